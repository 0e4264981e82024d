// JSON as rules see it: each value in the type that its schema declares, read when an expression asks for it. Nothing is
// copied. What does not fit its schema is an error of the expression that looks at it.
import { CelError, Double, type Value } from '../../cel/index.js'
import { goTypeOf } from '../../meta/go/go-text.js'
import { isInteger, isNumber, isObject, type Value as Json, WholeFloat } from '../../meta/values/value.js'
import { listMapKey } from '../validate/correlate.js'
import { type DeclaredType, fieldOf } from './declared-types.js'
import { formatReader } from './formatted-texts.js'
import { RuleList, RuleListMap, RuleSet, type ValueForm } from './rule-lists.js'
import { type FieldForm, type ObjectForm, RuleMap, RuleObject } from './rule-maps.js'

/** What makes values of JSON values of that type. */
export const ruleReader = (declared: DeclaredType): ((json: Json) => Value) => formOf(declared).read

const forms = new WeakMap<DeclaredType, ValueForm>()

function formOf(declared: DeclaredType): ValueForm {
  let form = forms.get(declared)
  if (form === undefined) {
    form = makeForm(declared)
    forms.set(declared, form)
  }
  return form
}

function makeForm(declared: DeclaredType): ValueForm {
  const { kind, schema } = declared
  const { nullable } = schema
  const read = readerOf(declared)
  return {
    isPlain: kind === 'string' || kind === 'int' || kind === 'double' || kind === 'bool' || kind === 'dyn',
    read: json => (json === null ? (nullable ? null : NOT_NULLABLE) : read(json)),
  }
}

type Reader = (json: Json) => Value

function readerOf(declared: DeclaredType): Reader {
  switch (declared.kind) {
    case 'dyn':
      return json => (typeof json === 'string' || isInteger(json) ? json : NEITHER)
    case 'int':
      return json => (isInteger(json) ? json : unexpected('int', json))
    case 'double':
      return json => (isNumber(json) ? new Double(floatOf(json)) : unexpected('float', json))
    case 'bool':
      return json => (typeof json === 'boolean' ? json : unexpected('bool', json))
    case 'string':
      return json => (typeof json === 'string' ? json : unexpected('string', json))
    case 'bytes':
    case 'duration':
    case 'timestamp': {
      const read = formatReader(declared.schema.checks.format)!
      return json => (typeof json === 'string' ? read(json) : unexpected('string', json))
    }
    case 'list':
      return listReader(declared)
    case 'map': {
      const form = formOf(declared.element!)
      return json => (isObject(json) ? new RuleMap(json, form) : NO_MAP)
    }
    case 'object':
      return objectReader(declared)
  }
}

function listReader({ schema, element }: DeclaredType): Reader {
  const form = formOf(element!)
  const { listType, listMapKeys } = schema.extensions
  const keyOf = (item: Json): unknown => listMapKey(item, listMapKeys, schema.items!)
  return json => {
    if (!Array.isArray(json)) return NO_LIST
    const list = new RuleList(json, form)
    if (listType === 'set') return new RuleSet(list)
    return listType === 'map' ? new RuleListMap(list, keyOf) : list
  }
}

function objectReader(declared: DeclaredType): Reader {
  const { properties, extensions } = declared.schema
  if (properties.size === 0 && extensions.preserveUnknownFields !== true) return () => NO_PROPERTIES
  const form = objectForm(declared)
  return json => (isObject(json) ? new RuleObject(json, form) : NO_MAP)
}

function objectForm(declared: DeclaredType): ObjectForm {
  // Fields are many, and few of them are looked at.
  const known = new Map<string, FieldForm>()
  let names: ReadonlyMap<string, string> | undefined
  return {
    fieldNamed(name) {
      let field = known.get(name)
      if (field !== undefined) return field
      const found = fieldOf(declared, name)
      if (found === undefined) return undefined
      field = { name, property: found.property, form: formOf(found.declared) }
      known.set(name, field)
      return field
    },
    fieldOf(property) {
      names ??= new Map([...declared.fields].map(([name, field]) => [field.property, name]))
      const name = names.get(property)
      return name === undefined ? undefined : this.fieldNamed(name)
    },
  }
}

const floatOf = (json: number | bigint | WholeFloat): number => (json instanceof WholeFloat ? json.value : Number(json))

// ---- what does not fit

const NOT_NULLABLE = new CelError('invalid data, got null for schema with nullable=false')
const NEITHER = new CelError('invalid data, expected XIntOrString value to be either a string or integer')
const NO_MAP = new CelError('invalid data, expected a map for the provided schema with type=object')
const NO_LIST = new CelError('invalid data, expected an array for the provided schema with type=array')
const NO_PROPERTIES = new CelError(
  'invalid object type, expected either Properties or AdditionalProperties with Allows=true and non-empty Schema',
)

const unexpected = (wanted: string, json: Json): CelError =>
  new CelError(`invalid data, expected ${wanted}, got ${goTypeOf(json)}`)
