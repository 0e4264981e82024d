// Where the two versions of OpenAPI differ in how they write a schema. Documents of version 3 tell everything; those of
// version 2 leave out what the clients of their time stumble over.
import type { ValueObject } from '../../meta/values/value.js'

export interface Dialect {
  readonly version: 2 | 3
  readonly hasDefaults: boolean
  /** A schema that is only a reference. */
  refTo(definition: string): ValueObject
  /** A reference with more to say beside it. */
  refBeside(definition: string, more: ValueObject): ValueObject
}

/** A schema under its name: its JSON, and the names of those that it refers to. */
export interface Definition {
  readonly json: Buffer
  readonly needs: readonly string[]
}

export const V3: Dialect = {
  version: 3,
  hasDefaults: true,
  refTo: definition => ({ $ref: `#/components/schemas/${definition}` }),
  // In version 3 whatever stands beside a reference does not count.
  refBeside: (definition, more) => ({ ...more, allOf: [V3.refTo(definition)] }),
}

export const V2: Dialect = {
  version: 2,
  hasDefaults: false,
  refTo: definition => ({ $ref: `#/definitions/${definition}` }),
  refBeside: (definition, more) => ({ ...more, ...V2.refTo(definition) }),
}
