// The special types by name.
import { INT_OR_STRING } from './int-or-string.js'
import { SCHEMA_OR_ARRAY, SCHEMA_OR_BOOL, SCHEMA_OR_STRING_ARRAY } from './json-schema-or.js'
import { QUANTITY } from './quantity.js'
import { FIELDS_V1, JSON_VALUE, RAW_EXTENSION } from './raw.js'
import type { SpecialType } from './special-type.js'
import { MICRO_TIME, TIME } from './time.js'

export const SPECIAL_TYPES: ReadonlyMap<string, SpecialType> = new Map(
  [
    TIME,
    MICRO_TIME,
    QUANTITY,
    INT_OR_STRING,
    RAW_EXTENSION,
    FIELDS_V1,
    JSON_VALUE,
    SCHEMA_OR_ARRAY,
    SCHEMA_OR_STRING_ARRAY,
    SCHEMA_OR_BOOL,
  ].map(special => [special.name, special]),
)
