//! Helpers of tests: a small check that markup is well formed, and contrast of colours.

/// Elements of HTML that have no end.
const VOID: [&str; 5] = ["meta", "link", "img", "br", "hr"];

/// Every tag is closed, in order; attributes are quoted; no stray `<` or bare `&`.
pub(crate) fn assert_well_formed(markup: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        rest = &rest[start + 1..];
        if let Some(after) = rest.strip_prefix("!DOCTYPE html>") {
            rest = after;
            continue;
        }
        let end = tag_end(rest);
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "at </{name}>");
            continue;
        }
        let name: String =
            tag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        assert!(!name.is_empty(), "a stray < before {:?}", &tag[..tag.len().min(40)]);
        check_attributes(&tag[name.len()..]);
        if name == "style" {
            let end = rest.find("</style>").unwrap();
            assert!(!rest[..end].contains('<'));
            rest = &rest[end + "</style>".len()..];
        } else if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    check_text(rest);
    assert!(open.is_empty(), "never closed: {open:?}");
}

/// The first `>` outside quotes.
fn tag_end(text: &str) -> usize {
    let mut quoted = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'>' if !quoted => return at,
            _ => {}
        }
    }
    panic!("a tag without end: {:?}", &text[..text.len().min(60)]);
}

fn check_attributes(text: &str) {
    let mut seen: Vec<&str> = Vec::new();
    let mut rest = text.trim_end_matches('/').trim();
    while !rest.is_empty() {
        let name_end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let name = &rest[..name_end];
        assert!(!seen.contains(&name), "{name} twice in {text:?}");
        seen.push(name);
        rest = &rest[name_end..];
        if let Some(value) = rest.strip_prefix("=\"") {
            let end = value.find('"').unwrap();
            assert!(!value[..end].contains('<'), "{value:?}");
            check_text(&value[..end]);
            rest = &value[end + 1..];
        } else {
            assert!(!rest.starts_with('='), "{text:?} is not quoted");
        }
        rest = rest.trim_start();
    }
}

fn check_text(text: &str) {
    assert!(!text.contains('>'), "a stray > in {text:?}");
    for (at, _) in text.match_indices('&') {
        let entity = text[at + 1..].split(';').next().unwrap();
        let known = ["amp", "lt", "gt", "quot", "apos"].contains(&entity);
        assert!(known, "a bare & in {:?}", &text[at..text.len().min(at + 20)]);
    }
}

/// Contrast of two colours `#rrggbb` after WCAG 2.
pub(crate) fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |color: &str| {
        let channel = |at: usize| {
            let v = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}
