//! Reading a safetensors file: eight bytes of length, a JSON header of that length, then the numbers.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// The location of one tensor.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// The tensors of a file, by name.
pub(crate) struct Tensors<'a> {
    entries: BTreeMap<String, Entry>,
    numbers: &'a [u8],
}

impl<'a> Tensors<'a> {
    /// Reads the header.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (length, rest) = bytes.split_first_chunk().context("the file has no length")?;
        let length = usize::try_from(u64::from_le_bytes(*length))?;
        let (header, numbers) = rest.split_at_checked(length).context("the header is cut")?;
        let mut header: BTreeMap<String, serde_json::Value> = serde_json::from_slice(header)?;
        header.remove("__metadata__");
        let entries = header
            .into_iter()
            .map(|(name, value)| Ok((name, serde_json::from_value(value)?)))
            .collect::<Result<_>>()?;
        Ok(Self { entries, numbers })
    }

    /// A tensor of 32-bit floats of exactly this shape.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let entry = self.entries.get(name).with_context(|| format!("there is no {name}"))?;
        ensure!(entry.dtype == "F32", "{name} is {} and must be F32", entry.dtype);
        ensure!(entry.shape == shape, "{name} is {:?} and must be {shape:?}", entry.shape);
        let [start, end] = entry.data_offsets;
        let bytes = self.numbers.get(start..end).with_context(|| format!("{name} is cut"))?;
        let (floats, rest) = bytes.as_chunks();
        let count: usize = shape.iter().product();
        ensure!(rest.is_empty() && floats.len() == count, "{name} has the wrong length");
        Ok(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, numbers: &[f32]) -> Vec<u8> {
        let mut bytes = u64::try_from(header.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }

    #[test]
    fn a_tensor_is_found_by_name_and_must_have_the_shape() {
        let header = r#"{"__metadata__":{"format":"pt"},
            "a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
            "b":{"dtype":"F32","shape":[1,1],"data_offsets":[8,12]},
            "c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},
            "d":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#;
        let bytes = file(header, &[1.0, -2.5, 3.0]);
        let tensors = Tensors::parse(&bytes).unwrap();
        assert_eq!(tensors.get("a", &[2]).unwrap(), [1.0, -2.5]);
        assert_eq!(tensors.get("b", &[1, 1]).unwrap(), [3.0]);
        for (name, shape) in [("a", 3), ("c", 1), ("d", 4), ("e", 1)] {
            assert!(tensors.get(name, &[shape]).is_err(), "{name}");
        }
        assert!(Tensors::parse(&bytes[..20]).is_err());
    }
}
