//! One value of an array, from its bytes.

use super::Kind;
use super::header::Header;

impl Header {
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Ascii)
    }

    /// Up to 8 bytes of a value as a little-endian number.
    fn bits(&self, item: &[u8]) -> u64 {
        let mut buffer = [0; 8];
        for (t, slot) in buffer.iter_mut().take(item.len()).enumerate() {
            *slot = item[if self.big_endian { item.len() - 1 - t } else { t }];
        }
        u64::from_le_bytes(buffer)
    }

    /// A whole number; sign extended.
    pub(super) fn integer(&self, item: &[u8]) -> i128 {
        let bits = self.bits(item);
        let unused = 64 - 8 * self.item_bytes as u32;
        match self.kind {
            Kind::Int => i128::from((bits << unused) as i64 >> unused),
            _ => i128::from(bits),
        }
    }

    pub(super) fn number(&self, item: &[u8]) -> f64 {
        match (self.kind, self.item_bytes) {
            (Kind::Float, 4) => f64::from(f32::from_bits(self.bits(item) as u32)),
            (Kind::Float, _) => f64::from_bits(self.bits(item)),
            (Kind::Bool, _) => f64::from(u8::from(self.bits(item) != 0)),
            _ => self.integer(item) as f64,
        }
    }

    /// A text without the zeros that fill it up.
    pub(super) fn text(&self, item: &[u8]) -> String {
        let text: String = match self.kind {
            Kind::Text => item
                .chunks_exact(4)
                .map(|bytes| {
                    let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
                    let code = match self.big_endian {
                        true => u32::from_be_bytes(bytes),
                        false => u32::from_le_bytes(bytes),
                    };
                    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
                })
                .collect(),
            _ => String::from_utf8_lossy(item).into_owned(),
        };
        text.trim_end_matches('\0').to_string()
    }

    /// What a label is called.
    pub(super) fn label(&self, item: &[u8]) -> String {
        match self.kind {
            Kind::Text | Kind::Ascii => self.text(item),
            Kind::Int | Kind::Uint => self.integer(item).to_string(),
            // + 0.0: −0 is written 0
            Kind::Bool | Kind::Float => (self.number(item) + 0.0).to_string(),
        }
    }
}
