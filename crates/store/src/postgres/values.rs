//! Converts values to and from the types that PostgreSQL inferred for a statement.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, WrongType, to_sql_checked};

use crate::{Row, SqlValue, Statement};

type ConversionError = Box<dyn Error + Sync + Send>;

/// Returns a statement's values as the driver takes them.
pub(super) fn driver_parameters(statement: &Statement) -> Vec<&(dyn ToSql + Sync)> {
    statement.values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// Converts a row of the driver.
pub(super) fn convert_row(row: &tokio_postgres::Row) -> Result<Row, tokio_postgres::Error> {
    let values = (0..row.len()).map(|column| row.try_get(column)).collect::<Result<_, _>>()?;
    Ok(Row::new(values))
}

impl ToSql for SqlValue {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, ConversionError> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(value) => integer_to_sql(*value, ty, out),
            Self::Real(value) if *ty == Type::FLOAT8 => value.to_sql(ty, out),
            Self::Text(value) if <&str as ToSql>::accepts(ty) => value.to_sql(ty, out),
            Self::Blob(value) if *ty == Type::BYTEA => value.as_slice().to_sql(ty, out),
            other => Err(format!("{} is bound where the statement has {ty}", other.kind()).into()),
        }
    }

    /// Accepts every type: which one fits depends on the value, and a null fits all of them.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Converts an integer. PostgreSQL infers narrow types in some positions, such as the length in
/// `substr`.
fn integer_to_sql(value: i64, ty: &Type, out: &mut BytesMut) -> Result<IsNull, ConversionError> {
    match *ty {
        Type::INT8 => value.to_sql(ty, out),
        Type::INT4 => i32::try_from(value)?.to_sql(ty, out),
        Type::INT2 => i16::try_from(value)?.to_sql(ty, out),
        Type::BOOL => (value != 0).to_sql(ty, out),
        _ => Err(format!("an integer is bound where the statement has {ty}").into()),
    }
}

impl<'a> FromSql<'a> for SqlValue {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, ConversionError> {
        Ok(match *ty {
            Type::INT8 => Self::Integer(i64::from_sql(ty, raw)?),
            Type::INT4 => Self::Integer(i32::from_sql(ty, raw)?.into()),
            Type::INT2 => Self::Integer(i16::from_sql(ty, raw)?.into()),
            Type::BOOL => Self::Integer(bool::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => Self::Real(f64::from_sql(ty, raw)?),
            Type::FLOAT4 => Self::Real(f32::from_sql(ty, raw)?.into()),
            Type::BYTEA => Self::Blob(raw.to_vec()),
            _ if <String as FromSql>::accepts(ty) => Self::Text(String::from_sql(ty, raw)?),
            _ => return Err(Box::new(WrongType::new::<Self>(ty.clone()))),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, ConversionError> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        matches!(
            *ty,
            Type::INT8
                | Type::INT4
                | Type::INT2
                | Type::BOOL
                | Type::FLOAT8
                | Type::FLOAT4
                | Type::BYTEA
        ) || <String as FromSql>::accepts(ty)
    }
}
