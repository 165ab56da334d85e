//! Samples and atoms as grey pictures.
//!
//! A column of numbers becomes a picture by its shape and a [`GreyRange`], the values that turn into
//! paper (white) and ink (black). Ranges are made over one column or over many, so that pictures can
//! be compared or each use all greys. PNG is the only pixel format; what lies between the tiles of a
//! mosaic is transparent, so that it suits a light and a dark page.

use crate::error::ReportError;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::fmt::Write;

/// The most pixels a picture may have: 64 million, more than any screen shows.
pub const MAX_PIXELS: usize = 1 << 26;

/// How the values of a column are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PixelOrder {
    /// Row by row, as in NumPy, IDX and the embedded digits.
    RowMajor,
    /// Column by column, as in MATLAB.
    ColumnMajor,
}

/// The shape of the picture in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// How they follow each other.
    pub order: PixelOrder,
}

impl Shape {
    /// The square that holds this many values, row by row, if there is one.
    pub fn square(n_values: usize) -> Option<Self> {
        let side = n_values.isqrt();
        let fits = side > 0 && side * side == n_values;
        fits.then_some(Self { height: side, width: side, order: PixelOrder::RowMajor })
    }

    fn index(&self, row: usize, column: usize) -> usize {
        match self.order {
            PixelOrder::RowMajor => row * self.width + column,
            PixelOrder::ColumnMajor => column * self.height + row,
        }
    }
}

/// The values that become white and black.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GreyRange {
    /// Paper: this and all smaller values are white.
    pub white: f64,
    /// Ink: this and all larger values are black.
    pub black: f64,
}

impl GreyRange {
    /// From the smallest to the largest value.
    pub fn min_max<'a>(values: impl IntoIterator<Item = &'a f64>) -> Self {
        let (white, black) = values
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        Self { white, black }
    }

    /// From −a to a, where a is the largest magnitude: zero is mid-grey.
    pub fn symmetric<'a>(values: impl IntoIterator<Item = &'a f64>) -> Self {
        let largest = values.into_iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        Self { white: -largest, black: largest }
    }

    /// 255 (white) to 0; a range of no width is mid-grey throughout.
    fn grey(&self, value: f64) -> u8 {
        // halves, because the difference of two large numbers may overflow
        let width = self.black / 2.0 - self.white / 2.0;
        if !(width > 0.0 && width.is_finite()) {
            return 128;
        }
        let ink = ((value / 2.0 - self.white / 2.0) / width).clamp(0.0, 1.0);
        (255.0 * (1.0 - ink)).round() as u8
    }
}

/// A picture of grey pixels, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GreyImage {
    width: usize,
    height: usize,
    grey: Vec<u8>,
    /// 255 opaque, 0 not there; `None` if all pixels are opaque.
    alpha: Option<Vec<u8>>,
}

impl GreyImage {
    /// The picture in a column of values.
    pub fn from_column(
        values: &[f64],
        shape: Shape,
        range: GreyRange,
    ) -> Result<Self, ReportError> {
        let Shape { height, width, .. } = shape;
        let expected = n_pixels(height, width)?;
        if values.len() != expected {
            return Err(ReportError::Pixels { height, width, expected, got: values.len() });
        }
        if let Some(index) = values.iter().position(|v| !v.is_finite()) {
            return Err(ReportError::NonFinitePixel { index, value: values[index] });
        }
        let pixels = (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
        let grey = pixels.map(|(row, column)| range.grey(values[shape.index(row, column)]));
        Ok(Self { width, height, grey: grey.collect(), alpha: None })
    }

    /// Columns of pixels.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows of pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The greys, row by row, 0 black to 255 white.
    pub fn grey(&self) -> &[u8] {
        &self.grey
    }

    /// PNG, 8 bits, with transparency if there is any.
    pub fn to_png(&self) -> Result<Vec<u8>, ReportError> {
        let failed = |problem: png::EncodingError| ReportError::Drawing {
            what: "a picture".into(),
            problem: problem.to_string(),
        };
        let mut bytes = Vec::new();
        // no truncation: n_pixels bounds both sides
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_depth(png::BitDepth::Eight);
        let writer = match &self.alpha {
            None => {
                encoder.set_color(png::ColorType::Grayscale);
                let mut writer = encoder.write_header().map_err(failed)?;
                writer.write_image_data(&self.grey).map_err(failed)?;
                writer
            }
            Some(alpha) => {
                encoder.set_color(png::ColorType::GrayscaleAlpha);
                let mut writer = encoder.write_header().map_err(failed)?;
                let pixels: Vec<u8> =
                    self.grey.iter().zip(alpha).flat_map(|(g, a)| [*g, *a]).collect();
                writer.write_image_data(&pixels).map_err(failed)?;
                writer
            }
        };
        writer.finish().map_err(failed)?;
        Ok(bytes)
    }

    /// The PNG as an address that needs no file: `data:image/png;base64,…`.
    pub fn to_data_uri(&self) -> Result<String, ReportError> {
        Ok(format!("data:image/png;base64,{}", BASE64_STANDARD.encode(self.to_png()?)))
    }
}

/// Pictures of many columns of one shape: each with its own range, or all with a shared one.
pub fn pictures(
    columns: &[Vec<f64>],
    shape: Shape,
    scaling: Scaling,
) -> Result<Vec<GreyImage>, ReportError> {
    let shared = match scaling {
        Scaling::SharedMinMax => Some(GreyRange::min_max(columns.iter().flatten())),
        Scaling::SharedSymmetric => Some(GreyRange::symmetric(columns.iter().flatten())),
        Scaling::MinMax | Scaling::Symmetric => None,
    };
    let picture = |values: &Vec<f64>| {
        let own = || match scaling {
            Scaling::MinMax => GreyRange::min_max(values),
            _ => GreyRange::symmetric(values),
        };
        GreyImage::from_column(values, shape, shared.unwrap_or_else(own))
    };
    columns.iter().map(picture).collect()
}

/// Which range of values [`pictures`] get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// [`GreyRange::min_max`] of each.
    MinMax,
    /// [`GreyRange::symmetric`] of each: atoms, whose sign means nothing.
    Symmetric,
    /// One [`GreyRange::min_max`] of all.
    SharedMinMax,
    /// One [`GreyRange::symmetric`] of all.
    SharedSymmetric,
}

/// Row and column of a tile's first pixel.
type Corner = (usize, usize);

/// Many pictures of one size in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mosaic {
    /// Pictures per row.
    pub columns: usize,
    /// Pixels of a tile between neighbours.
    pub gap: usize,
    /// Every pixel becomes a square of this many.
    pub zoom: usize,
}

impl Mosaic {
    /// One picture of all tiles, row by row; what lies between them is transparent.
    pub fn join(&self, tiles: &[GreyImage]) -> Result<GreyImage, ReportError> {
        let (height, width, grid) = self.layout(tiles)?;
        let zoomed = |size: usize| size.saturating_mul(self.zoom);
        let (full_height, full_width) = (zoomed(height), zoomed(width));
        let n = n_pixels(full_height, full_width)?;
        let (mut grey, mut alpha) = (vec![0; n], vec![0; n]);
        for (tile, (top, left)) in tiles.iter().zip(grid) {
            for row in 0..zoomed(tile.height) {
                for column in 0..zoomed(tile.width) {
                    let from = row / self.zoom * tile.width + column / self.zoom;
                    let to = (zoomed(top) + row) * full_width + zoomed(left) + column;
                    grey[to] = tile.grey[from];
                    alpha[to] = tile.alpha.as_ref().map_or(255, |alpha| alpha[from]);
                }
            }
        }
        let alpha = alpha.iter().any(|a| *a != 255).then_some(alpha);
        Ok(GreyImage { width: full_width, height: full_height, grey, alpha })
    }

    /// The same as an SVG document of PNG tiles. `title` is its text for those who cannot see it.
    pub fn to_svg(&self, tiles: &[GreyImage], title: &str) -> Result<String, ReportError> {
        let (height, width, grid) = self.layout(tiles)?;
        let title = crate::page::escape(title);
        let (full_width, full_height) = (width * self.zoom, height * self.zoom);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{full_width}\" height=\"{full_height}\" role=\"img\">\n<title>{title}</title>\n"
        );
        for (tile, (top, left)) in tiles.iter().zip(grid) {
            let (w, h, uri) = (tile.width, tile.height, tile.to_data_uri()?);
            // writing to a String cannot fail
            let _ = writeln!(
                svg,
                "<image x=\"{left}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" \
                 style=\"image-rendering:pixelated\" href=\"{uri}\"/>"
            );
        }
        svg.push_str("</svg>\n");
        Ok(svg)
    }

    /// Height and width before zooming, and where every tile starts.
    fn layout(&self, tiles: &[GreyImage]) -> Result<(usize, usize, Vec<Corner>), ReportError> {
        let Some(first) = tiles.first() else {
            return Err(size("mosaic", "empty", "of at least one picture"));
        };
        if self.columns == 0 || self.zoom == 0 {
            return Err(size("mosaic's columns or zoom", "0", "at least 1"));
        }
        let differs = |t: &&GreyImage| (t.height, t.width) != (first.height, first.width);
        if let Some(other) = tiles.iter().find(differs) {
            let shape = format!("{} x {}", other.height, other.width);
            return Err(size("a tile", shape, "of the size of the first tile"));
        }
        let (columns, rows) = (self.columns.min(tiles.len()), tiles.len().div_ceil(self.columns));
        let total = |count: usize, side: usize| {
            count.saturating_mul(side.saturating_add(self.gap)).saturating_sub(self.gap)
        };
        let (height, width) = (total(rows, first.height), total(columns, first.width));
        n_pixels(height.saturating_mul(self.zoom), width.saturating_mul(self.zoom))?;
        let place = |t: usize| {
            let (row, column) = (t / self.columns, t % self.columns);
            (row * (first.height + self.gap), column * (first.width + self.gap))
        };
        Ok((height, width, (0..tiles.len()).map(place).collect()))
    }
}

fn n_pixels(height: usize, width: usize) -> Result<usize, ReportError> {
    match height.checked_mul(width) {
        Some(n) if (1..=MAX_PIXELS).contains(&n) => Ok(n),
        _ => Err(size("picture", format!("{height} x {width}"), "between 1 and 67,108,864 pixels")),
    }
}

fn size(what: &'static str, size: impl Into<String>, requirement: &'static str) -> ReportError {
    ReportError::Size { what, size: size.into(), requirement }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_well_formed;

    const ROWS: Shape = Shape { height: 2, width: 3, order: PixelOrder::RowMajor };
    const UNIT: GreyRange = GreyRange { white: 0.0, black: 1.0 };

    fn decode(png: &[u8]) -> (u32, u32, png::ColorType, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, info.height, info.color_type, pixels)
    }

    fn flat(value: f64) -> GreyImage {
        GreyImage::from_column(&[value; 6], ROWS, UNIT).unwrap()
    }

    #[test]
    fn pixels_lie_where_the_order_says() {
        let values = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
        let rows = GreyImage::from_column(&values, ROWS, UNIT).unwrap();
        assert_eq!(rows.grey(), [255, 204, 153, 102, 51, 0]);
        let shape = Shape { order: PixelOrder::ColumnMajor, ..ROWS };
        let columns = GreyImage::from_column(&values, shape, UNIT).unwrap();
        assert_eq!(columns.grey(), [255, 153, 51, 204, 102, 0]);
        assert_eq!((columns.height(), columns.width()), (2, 3));
    }

    #[test]
    fn a_png_decodes_to_the_same_pixels() {
        let image = GreyImage::from_column(&[0.0, 0.1, 0.3, 0.5, 0.7, 1.0], ROWS, UNIT).unwrap();
        let (width, height, color, pixels) = decode(&image.to_png().unwrap());
        assert_eq!((width, height, color), (3, 2, png::ColorType::Grayscale));
        assert_eq!(pixels, image.grey());
    }

    #[test]
    fn a_mosaic_has_transparent_gaps_and_decodes_too() {
        let mosaic = Mosaic { columns: 2, gap: 1, zoom: 2 };
        let image = mosaic.join(&[flat(0.0), flat(0.5), flat(1.0)]).unwrap();
        assert_eq!((image.height(), image.width()), (10, 14));
        let (width, height, color, pixels) = decode(&image.to_png().unwrap());
        assert_eq!((width, height, color), (14, 10, png::ColorType::GrayscaleAlpha));
        let at = |row: usize, column: usize| [(); 2].map(|()| 2 * (14 * row + column));
        let pixel = |row, column| {
            let [g, a] = at(row, column);
            (pixels[g], pixels[a + 1])
        };
        assert_eq!(pixel(0, 0), (255, 255));
        assert_eq!(pixel(3, 13), (128, 255));
        assert_eq!(pixel(9, 5), (0, 255));
        assert_eq!((pixel(0, 6).1, pixel(4, 0).1, pixel(9, 13).1), (0, 0, 0));
        // without gaps nothing is transparent
        let tight = Mosaic { columns: 2, gap: 0, zoom: 1 };
        assert_eq!(tight.join(&[flat(0.0), flat(1.0)]).unwrap().alpha, None);
    }

    #[test]
    fn an_svg_mosaic_holds_one_picture_per_tile_and_escapes_its_title() {
        let mosaic = Mosaic { columns: 2, gap: 1, zoom: 4 };
        let svg = mosaic.to_svg(&[flat(0.0), flat(0.5), flat(1.0)], "<atoms> & \"more\"").unwrap();
        assert_well_formed(&svg);
        assert_eq!(svg.matches("<image ").count(), 3);
        assert!(svg.contains("x=\"4\" y=\"0\"") && svg.contains("viewBox=\"0 0 7 5\""));
        assert!(svg.contains("&lt;atoms&gt; &amp; "));
    }

    #[test]
    fn ranges_are_shared_or_not() {
        let columns = [vec![0.0, 0.5, 0.5, 0.5, 0.5, 0.5], vec![0.0, -4.0, 2.0, 2.0, 2.0, 2.0]];
        let first = |scaling| pictures(&columns, ROWS, scaling).unwrap()[0].grey()[..2].to_vec();
        assert_eq!(first(Scaling::MinMax), [255, 0]);
        assert_eq!(first(Scaling::Symmetric), [128, 0]);
        assert_eq!(first(Scaling::SharedMinMax), [85, 64]);
        assert_eq!(first(Scaling::SharedSymmetric), [128, 112]);
    }

    #[test]
    fn equal_and_huge_values_have_a_grey() {
        let constant = pictures(&[vec![3.0; 6]], ROWS, Scaling::MinMax).unwrap();
        assert_eq!(constant[0].grey(), [128; 6]);
        let zero = pictures(&[vec![0.0; 6]], ROWS, Scaling::Symmetric).unwrap();
        assert_eq!(zero[0].grey(), [128; 6]);
        let huge = vec![f64::MAX, -f64::MAX, 0.0, 0.0, 0.0, 0.0];
        let huge = pictures(&[huge], ROWS, Scaling::MinMax).unwrap();
        assert_eq!(huge[0].grey()[..3], [0, 255, 128]);
    }

    #[test]
    fn squares_are_recognised() {
        let square = Shape::square(64).unwrap();
        assert_eq!((square.height, square.width), (8, 8));
        assert_eq!(Shape::square(63), None);
        assert_eq!(Shape::square(0), None);
    }

    #[test]
    fn bad_pictures_are_named() {
        let error = GreyImage::from_column(&[0.0; 5], ROWS, UNIT).unwrap_err();
        assert_eq!(error.to_string(), "a picture of 2 x 3 pixels needs 6 values, but has 5");
        let mut values = [0.0; 6];
        values[4] = f64::NAN;
        let error = GreyImage::from_column(&values, ROWS, UNIT).unwrap_err();
        assert_eq!(error.to_string(), "pixel 4 of a picture is NaN, but must be finite");
        for (height, width) in [(0, 3), (usize::MAX, 2), (1 << 14, 1 << 14)] {
            assert!(GreyImage::from_column(&[], Shape { height, width, ..ROWS }, UNIT).is_err());
        }
        let mosaic = Mosaic { columns: 2, gap: 1, zoom: 1 };
        assert!(mosaic.join(&[]).is_err());
        assert!(Mosaic { columns: 0, ..mosaic }.join(&[flat(0.0)]).is_err());
        assert!(Mosaic { zoom: usize::MAX, ..mosaic }.join(&[flat(0.0)]).is_err());
        assert!(Mosaic { gap: usize::MAX, ..mosaic }.join(&[flat(0.0), flat(0.0)]).is_err());
        let other = Shape { height: 3, width: 2, ..ROWS };
        let other = GreyImage::from_column(&[0.0; 6], other, UNIT).unwrap();
        assert!(mosaic.join(&[flat(0.0), other]).is_err());
    }
}
