//! Numbers as a tensor stores them: little-endian bytes.

use lkdl::Real;
use safetensors::Dtype;

/// A number type of tensors.
pub trait Element: Real {
    /// Its name in safetensors.
    const DTYPE: Dtype;

    /// Appends its bytes.
    fn write(self, out: &mut Vec<u8>);

    /// A number from `size_of::<Self>()` bytes; fewer count as zeros.
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($float:ty, $dtype:ident) => {
        impl Element for $float {
            const DTYPE: Dtype = Dtype::$dtype;

            fn write(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Self {
                let mut buffer = [0; size_of::<Self>()];
                for (to, from) in buffer.iter_mut().zip(bytes) {
                    *to = *from;
                }
                Self::from_le_bytes(buffer)
            }
        }
    };
}

element!(f32, F32);
element!(f64, F64);
