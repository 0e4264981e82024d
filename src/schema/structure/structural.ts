// A schema as plain data: the JSONSchemaProps of a CustomResourceDefinition, parsed once into one
// form. A node has its generic part (what a field is), its extensions (`x-kubernetes-…`) and its value checks; what it
// does not use it shares with all other nodes, as real definitions have thousands of nodes with few keywords.
import { asGiven, isGivenEmpty } from '../../meta/values/given-empty.js'
import { isInteger, isNumber, isObject, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'

export interface Schema {
  /** Empty where none is given. */
  readonly type: string
  readonly nullable: boolean
  readonly title: string
  readonly description: string
  /** Undefined where none is given; `default: null` is none. */
  readonly default: Value | undefined
  readonly properties: ReadonlyMap<string, Schema>
  readonly items: Schema | undefined
  readonly additionalProperties: Schema | boolean | undefined
  readonly extensions: Extensions
  readonly checks: ValueChecks
  /** What can be written in a definition but is refused there. */
  readonly refused: RefusedKeywords
  /** The bits of `BELOW`: what stands at this node, or below it in properties, items and additionalProperties. */
  readonly below: number
}

/** Keywords that are rare and that walks look for. A walk enters a node only if its keyword stands there or below. */
export const BELOW = { default: 1, rules: 2, embeddedResource: 4, listType: 8 } as const

export interface Extensions {
  /** Undefined and false differ: false is refused. */
  readonly preserveUnknownFields: boolean | undefined
  readonly embeddedResource: boolean
  readonly intOrString: boolean
  readonly listType: string | undefined
  readonly listMapKeys: readonly string[]
  readonly mapType: string | undefined
  readonly rules: readonly Rule[]
}

/** A rule of `x-kubernetes-validations`. */
export interface Rule {
  readonly rule: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string | undefined
  readonly fieldPath: string
  readonly optionalOldSelf: boolean | undefined
}

export interface ValueChecks {
  readonly format: string
  /** The format counts whatever the type is: so it is where defaults of a definition are checked. */
  readonly formatOfAnyType?: true
  readonly maximum: number | undefined
  readonly exclusiveMaximum: boolean
  readonly minimum: number | undefined
  readonly exclusiveMinimum: boolean
  readonly multipleOf: number | undefined
  readonly maxLength: number | undefined
  readonly minLength: number | undefined
  readonly pattern: string
  readonly maxItems: number | undefined
  readonly minItems: number | undefined
  readonly uniqueItems: boolean
  readonly maxProperties: number | undefined
  readonly minProperties: number | undefined
  readonly required: readonly string[]
  readonly enum: readonly Value[]
  readonly allOf: readonly Schema[]
  readonly anyOf: readonly Schema[]
  readonly oneOf: readonly Schema[]
  readonly not: Schema | undefined
}

export interface RefusedKeywords {
  readonly id: string
  readonly metaSchema: string
  readonly ref: boolean
  readonly additionalItems: boolean
  readonly itemList: readonly Schema[]
  readonly patternProperties: boolean
  readonly definitions: ReadonlyMap<string, Schema>
  readonly dependencies: ReadonlyMap<string, Schema | undefined> | undefined
}

/** How deep schemas may nest. Real ones stay below 50; the walks of this room recurse as deep as the schema goes. */
export const MAX_SCHEMA_DEPTH = 800

/** Whether a written schema nests deeper than this room follows. Looks at the value without recursion. */
export function isTooDeep(value: Value): boolean {
  // Between one schema and the next below it stand at most two levels of JSON; defaults and enums may nest freely.
  const open: [ValueObject, number][] = isObject(value) ? [[value, 1]] : []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [schema, depth] = next
    if (depth > MAX_SCHEMA_DEPTH) return true
    for (const child of writtenChildren(schema)) open.push([child, depth + 1])
  }
  return false
}

/** Reads a written schema whose members have their proper JSON types; unknown keywords count for nothing. */
export function parseSchema(value: Value): Schema {
  const schema = parseUnlessTooDeep(value)
  if (!schema) throw new RangeError(`schemas may be nested at most ${MAX_SCHEMA_DEPTH} deep`)
  return schema
}

export function parseUnlessTooDeep(value: Value): Schema | undefined {
  if (isTooDeep(value)) return undefined
  return isObject(value) ? parse(value) : EMPTY_SCHEMA
}

export const hasRules = (schema: Schema): boolean => schema.extensions.rules.length > 0

/** The schema of a member of an object: its own, or that of all additional ones. */
export function memberSchema({ properties, additionalProperties }: Schema, key: string): Schema | undefined {
  return properties.get(key) ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
}

const NO_SCHEMAS: readonly Schema[] = []
const NO_MEMBERS: ReadonlyMap<string, Schema> = new Map()
const NO_TEXTS: readonly string[] = []

const NO_EXTENSIONS: Extensions = {
  preserveUnknownFields: undefined,
  embeddedResource: false,
  intOrString: false,
  listType: undefined,
  listMapKeys: NO_TEXTS,
  mapType: undefined,
  rules: [],
}

/** The checks of a node that has none. */
export const NO_CHECKS: ValueChecks = {
  format: '',
  maximum: undefined,
  exclusiveMaximum: false,
  minimum: undefined,
  exclusiveMinimum: false,
  multipleOf: undefined,
  maxLength: undefined,
  minLength: undefined,
  pattern: '',
  maxItems: undefined,
  minItems: undefined,
  uniqueItems: false,
  maxProperties: undefined,
  minProperties: undefined,
  required: NO_TEXTS,
  enum: [],
  allOf: NO_SCHEMAS,
  anyOf: NO_SCHEMAS,
  oneOf: NO_SCHEMAS,
  not: undefined,
}

const NO_REFUSED: RefusedKeywords = {
  id: '',
  metaSchema: '',
  ref: false,
  additionalItems: false,
  itemList: NO_SCHEMAS,
  patternProperties: false,
  definitions: NO_MEMBERS,
  dependencies: undefined,
}

/** The node that has no keywords, wherever it stands. */
export const EMPTY_SCHEMA: Schema = {
  type: '',
  nullable: false,
  title: '',
  description: '',
  default: undefined,
  properties: NO_MEMBERS,
  items: undefined,
  additionalProperties: undefined,
  extensions: NO_EXTENSIONS,
  checks: NO_CHECKS,
  refused: NO_REFUSED,
  below: 0,
}

function parse(written: ValueObject): Schema {
  const items = own(written, 'items')
  let used = Array.isArray(items) || isGivenEmpty(written, 'dependencies') ? REFUSED : 0
  const keywords = Object.keys(written)
  if (keywords.length === 0 && used === 0) return EMPTY_SCHEMA
  for (const keyword of keywords) used |= PARTS.get(keyword) ?? 0
  const node = {
    type: text(own(written, 'type')),
    nullable: own(written, 'nullable') === true,
    title: text(own(written, 'title')),
    description: text(own(written, 'description')),
    default: own(written, 'default') ?? undefined,
    properties: members(own(written, 'properties')),
    // Neither `items: true` nor an empty list describes items.
    items: isObject(items) ? parse(items) : undefined,
    additionalProperties: schemaOrBoolean(own(written, 'additionalProperties')),
    extensions: (used & EXTENSION) === 0 ? NO_EXTENSIONS : parseExtensions(written),
    checks: (used & CHECK) === 0 ? NO_CHECKS : parseChecks(written),
    refused: (used & REFUSED) === 0 ? NO_REFUSED : parseRefused(written, items),
  }
  return { ...node, below: flagsOf(node) }
}

function flagsOf({ extensions, properties, items, additionalProperties, ...node }: Omit<Schema, 'below'>): number {
  let flags = 0
  if (node.default !== undefined) flags |= BELOW.default
  if (extensions !== NO_EXTENSIONS) {
    if (extensions.rules.length > 0) flags |= BELOW.rules
    if (extensions.embeddedResource) flags |= BELOW.embeddedResource
    if (extensions.listType === 'set' || extensions.listType === 'map') flags |= BELOW.listType
  }
  for (const property of properties.values()) flags |= property.below
  if (items !== undefined) flags |= items.below
  if (typeof additionalProperties === 'object') flags |= additionalProperties.below
  return flags
}

function parseExtensions(written: ValueObject): Extensions {
  const rules = own(written, 'x-kubernetes-validations')
  return {
    preserveUnknownFields: flag(own(written, 'x-kubernetes-preserve-unknown-fields')),
    embeddedResource: own(written, 'x-kubernetes-embedded-resource') === true,
    intOrString: own(written, 'x-kubernetes-int-or-string') === true,
    listType: optionalText(own(written, 'x-kubernetes-list-type')),
    listMapKeys: texts(own(written, 'x-kubernetes-list-map-keys')),
    mapType: optionalText(own(written, 'x-kubernetes-map-type')),
    rules: Array.isArray(rules) ? rules.map(parseRule) : NO_EXTENSIONS.rules,
  }
}

function parseRule(written: Value): Rule {
  const rule = isObject(written) ? written : {}
  return {
    rule: text(own(rule, 'rule')),
    message: text(own(rule, 'message')),
    messageExpression: text(own(rule, 'messageExpression')),
    reason: optionalText(own(rule, 'reason')),
    fieldPath: text(own(rule, 'fieldPath')),
    optionalOldSelf: flag(own(rule, 'optionalOldSelf')),
  }
}

function parseChecks(written: ValueObject): ValueChecks {
  const values = own(written, 'enum')
  const not = own(written, 'not')
  return {
    format: text(own(written, 'format')),
    maximum: number(own(written, 'maximum')),
    exclusiveMaximum: own(written, 'exclusiveMaximum') === true,
    minimum: number(own(written, 'minimum')),
    exclusiveMinimum: own(written, 'exclusiveMinimum') === true,
    multipleOf: number(own(written, 'multipleOf')),
    maxLength: count(own(written, 'maxLength')),
    minLength: count(own(written, 'minLength')),
    pattern: text(own(written, 'pattern')),
    maxItems: count(own(written, 'maxItems')),
    minItems: count(own(written, 'minItems')),
    uniqueItems: own(written, 'uniqueItems') === true,
    maxProperties: count(own(written, 'maxProperties')),
    minProperties: count(own(written, 'minProperties')),
    required: texts(own(written, 'required')),
    enum: Array.isArray(values) ? values : NO_CHECKS.enum,
    allOf: schemas(own(written, 'allOf')),
    anyOf: schemas(own(written, 'anyOf')),
    oneOf: schemas(own(written, 'oneOf')),
    not: isObject(not) ? parse(not) : undefined,
  }
}

function parseRefused(written: ValueObject, items: Value | undefined): RefusedKeywords {
  // Given empty it is refused, too.
  const dependencies = asGiven(written, 'dependencies')
  const patterns = own(written, 'patternProperties')
  return {
    id: text(own(written, 'id')),
    metaSchema: text(own(written, '$schema')),
    ref: typeof own(written, '$ref') === 'string',
    additionalItems: schemaOrBoolean(own(written, 'additionalItems')) !== undefined,
    itemList: schemas(items),
    patternProperties: isObject(patterns) && Object.keys(patterns).length > 0,
    definitions: members(own(written, 'definitions')),
    dependencies: isObject(dependencies)
      ? new Map(Object.entries(dependencies).map(([key, value]) => [key, isObject(value) ? parse(value) : undefined]))
      : undefined,
  }
}

const EXTENSION = 1
const CHECK = 2
const REFUSED = 4

/** Which part of a node a keyword belongs to; most nodes use none of them. */
const PARTS: ReadonlyMap<string, number> = new Map([
  ...[
    'x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-embedded-resource',
    'x-kubernetes-int-or-string',
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-map-type',
    'x-kubernetes-validations',
  ].map((keyword): [string, number] => [keyword, EXTENSION]),
  ...Object.keys(NO_CHECKS).map((keyword): [string, number] => [keyword, CHECK]),
  ...['id', '$schema', '$ref', 'additionalItems', 'patternProperties', 'definitions', 'dependencies'].map(
    (keyword): [string, number] => [keyword, REFUSED],
  ),
])

const own = (written: ValueObject, keyword: string): Value | undefined =>
  Object.hasOwn(written, keyword) ? written[keyword] : undefined

const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '')
const optionalText = (value: Value | undefined): string | undefined => (typeof value === 'string' ? value : undefined)
const flag = (value: Value | undefined): boolean | undefined => (typeof value === 'boolean' ? value : undefined)

function texts(value: Value | undefined): readonly string[] {
  return Array.isArray(value) && value.length > 0 ? value.map(text) : NO_TEXTS
}

/** A bound is a float64, even if it is written as an integer. */
function number(value: Value | undefined): number | undefined {
  if (value instanceof WholeFloat) return value.value
  return isNumber(value) ? Number(value) : undefined
}

function count(value: Value | undefined): number | undefined {
  if (value instanceof WholeFloat) return value.value
  return isInteger(value) ? Number(value) : undefined
}

function members(value: Value | undefined): ReadonlyMap<string, Schema> {
  if (!isObject(value)) return NO_MEMBERS
  const read = new Map<string, Schema>()
  for (const key of Object.keys(value)) {
    const member = value[key]
    read.set(key, isObject(member) ? parse(member) : EMPTY_SCHEMA)
  }
  return read.size === 0 ? NO_MEMBERS : read
}

function schemas(value: Value | undefined): readonly Schema[] {
  if (!Array.isArray(value) || value.length === 0) return NO_SCHEMAS
  return value.map(item => (isObject(item) ? parse(item) : EMPTY_SCHEMA))
}

function schemaOrBoolean(value: Value | undefined): Schema | boolean | undefined {
  if (typeof value === 'boolean') return value
  return isObject(value) ? parse(value) : undefined
}

const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'additionalItems',
  'not',
  'allOf',
  'anyOf',
  'oneOf',
])
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', 'definitions', 'dependencies', 'patternProperties'])

export function writtenChildren(schema: ValueObject): readonly ValueObject[] {
  const children: ValueObject[] = []
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword]!
    if (SCHEMA_KEYWORDS.has(keyword)) {
      if (isObject(value)) children.push(value)
      else if (Array.isArray(value)) for (const child of value) if (isObject(child)) children.push(child)
    } else if (NAMED_SCHEMAS.has(keyword) && isObject(value)) {
      for (const key of Object.keys(value)) if (isObject(value[key])) children.push(value[key])
    }
  }
  return children
}
