// The differences between the two versions of OpenAPI in schemas. Version 3 documents are complete; version 2 documents
// omit what older clients cannot handle.
import type { ValueObject } from '../../meta/values/value.js'

export interface Dialect {
  readonly version: 2 | 3
  readonly hasDefaults: boolean
  /** Whether the values that a field may have are listed; they are by default. */
  readonly hasEnums?: boolean
  /** A schema that is only a reference. */
  refTo(definition: string): ValueObject
  /** A reference with further keywords. */
  refBeside(definition: string, more: ValueObject): ValueObject
}

/** A named schema: its JSON, and the names of the schemas that it refers to. */
export interface Definition {
  readonly json: Buffer
  readonly needs: readonly string[]
}

export const V3: Dialect = {
  version: 3,
  hasDefaults: true,
  refTo: definition => ({ $ref: `#/components/schemas/${definition}` }),
  // In version 3, keywords beside `$ref` are ignored.
  refBeside: (definition, more) => ({ ...more, allOf: [V3.refTo(definition)] }),
}

export const V2: Dialect = {
  version: 2,
  hasDefaults: false,
  refTo: definition => ({ $ref: `#/definitions/${definition}` }),
  refBeside: (definition, more) => ({ ...more, ...V2.refTo(definition) }),
}

/** In place of a definition: a response that is a plain string. */
export const STRING_RESPONSE = 'string'

export const responseSchema = (dialect: Dialect, definition: string): ValueObject =>
  definition === STRING_RESPONSE ? { type: 'string' } : dialect.refTo(definition)
