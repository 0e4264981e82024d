// Random structural schemas, and values for them: valid, and with mistakes here and there.
import { hostileValue } from './mutations.mjs'

const FORMATS = [
  'date-time',
  'date',
  'duration',
  'byte',
  'uuid',
  'email',
  'ipv4',
  'ipv6',
  'cidr',
  'uri',
  'hostname',
  'int32',
  'int64',
  'double',
  'password',
  'k8s-short-name',
  'mac',
  'nonsense',
]
const PATTERNS = ['^a', '^[a-z]+$', '^(a|b)*$', '\\d+', '^.{2,4}$', '\\p{L}', '[']

/** A schema. With `mistakes` it may be one that is not allowed. */
export function randomSchema(random, { depth = 0, mistakes = 0.03 } = {}) {
  const inner = { depth: depth + 1, mistakes }
  const type = random.weighted([
    [3, 'string'],
    [2, 'integer'],
    [1, 'number'],
    [1, 'boolean'],
    [depth < 3 ? 2 : 0, 'array'],
    [depth < 3 ? 3 : 0, 'object'],
    [depth < 3 ? 1 : 0, 'map'],
    [1, 'intOrString'],
    [0.5, 'any'],
    [0.3, 'embedded'],
  ])
  const schema = { ...OF_TYPE[type](random, inner) }
  if (random.chance(0.15)) schema.nullable = true
  if (random.chance(0.1)) schema.description = 'A field.'
  if (random.chance(0.2) && depth > 0) schema.default = valueFor(random, schema, 0.03)
  if (random.chance(0.08)) schema.enum = random.times(2, () => valueFor(random, schema, 0.05))
  if (random.chance(0.06)) Object.assign(schema, junctor(random, schema))
  if (random.chance(mistakes)) Object.assign(schema, mistake(random))
  return schema
}

const OF_TYPE = {
  string: random => ({
    type: 'string',
    ...(random.chance(0.3) && { format: random.pick(FORMATS) }),
    ...(random.chance(0.2) && { pattern: random.pick(PATTERNS.slice(0, -1)) }),
    ...(random.chance(0.2) && { minLength: random.below(3) }),
    ...(random.chance(0.3) && { maxLength: random.between(1, 20) }),
  }),
  integer: random => ({
    type: 'integer',
    ...bounds(random),
    ...(random.chance(0.2) && { format: random.pick(['int32', 'int64']) }),
  }),
  number: random => ({
    type: 'number',
    ...bounds(random),
    ...(random.chance(0.2) && { format: random.pick(['double', 'float']) }),
  }),
  boolean: () => ({ type: 'boolean' }),
  array: (random, inner) => {
    const items = randomSchema(random, inner)
    const keys =
      items.type === 'object' && items.properties
        ? Object.entries(items.properties).filter(([, { type }]) => ['string', 'integer'].includes(type))
        : []
    const sized = {
      ...(random.chance(0.3) && { maxItems: random.between(1, 5) }),
      ...(random.chance(0.15) && { minItems: random.below(3) }),
    }
    if (keys.length > 0 && random.chance(0.5)) {
      const [key] = random.pick(keys)
      items.required = [...new Set([...(items.required ?? []), key])]
      return { type: 'array', items, ...sized, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] }
    }
    return {
      type: 'array',
      items,
      ...sized,
      ...(random.chance(0.2) && { 'x-kubernetes-list-type': random.pick(['set', 'atomic']) }),
      ...(random.chance(0.05) && { uniqueItems: false }),
    }
  },
  object: (random, inner) => {
    const names = random.some(['a', 'b', 'c', 'd', 'eF', 'g-h', 'in', 'x.y'], 0.4)
    const properties = Object.fromEntries(names.map(name => [name, randomSchema(random, inner)]))
    return {
      type: 'object',
      ...((names.length > 0 || random.chance(0.5)) && { properties }),
      ...(random.chance(0.3) && names.length > 0 && { required: random.some(names) }),
      ...(random.chance(0.1) && { 'x-kubernetes-preserve-unknown-fields': true }),
      ...(random.chance(0.1) && { maxProperties: random.between(0, 4) }),
      ...(random.chance(0.1) && { minProperties: random.below(2) }),
      ...(random.chance(0.08) && { 'x-kubernetes-map-type': random.pick(['atomic', 'granular']) }),
    }
  },
  map: (random, inner) => ({
    type: 'object',
    additionalProperties: random.chance(0.1) ? true : randomSchema(random, inner),
    ...(random.chance(0.3) && { maxProperties: random.between(1, 5) }),
  }),
  intOrString: random => ({
    'x-kubernetes-int-or-string': true,
    ...(random.chance(0.3) && { anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    ...(random.chance(0.2) && { pattern: '^[0-9]+%$' }),
  }),
  any: random => ({ 'x-kubernetes-preserve-unknown-fields': true, ...(random.chance(0.5) && { type: 'object' }) }),
  embedded: random => ({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    ...(random.chance(0.3) && { properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } }),
  }),
}

const bounds = random => ({
  ...(random.chance(0.25) && { minimum: random.pick([0, 1, -5, 0.5]) }),
  ...(random.chance(0.25) && {
    maximum: random.pick([10, 100, 2.5]),
    ...(random.chance(0.3) && { exclusiveMaximum: true }),
  }),
  ...(random.chance(0.1) && { multipleOf: random.pick([1, 2, 0.5]) }),
})

function junctor(random, schema) {
  const part = () =>
    random.pick([
      { minLength: 2 },
      { maximum: 5 },
      { minimum: 1 },
      { pattern: '^b' },
      { enum: ['a', 1] },
      { required: ['a'] },
      { minItems: 1 },
      { maxProperties: 1 },
      ...(schema.properties ? [{ properties: { [Object.keys(schema.properties)[0] ?? 'a']: { minLength: 1 } } }] : []),
    ])
  return random.pick([
    { allOf: [part(), part()] },
    { anyOf: [part(), part()] },
    { oneOf: [part(), part()] },
    { not: part() },
  ])
}

const mistake = random =>
  random.pick([
    { type: random.pick(['', 'any', 'null', 'text']) },
    { pattern: '[' },
    { items: { type: 'string' } },
    { properties: { z: {} } },
    { additionalProperties: false },
    { required: ['nix'] },
    { maxLength: -1 },
    { uniqueItems: true },
    { $ref: '#/x' },
    { 'x-kubernetes-list-type': 'map' },
    { 'x-kubernetes-list-map-keys': ['a'] },
    { format: 'x' },
    { default: {} },
    { default: null },
    { enum: [] },
    { multipleOf: 0 },
    { definitions: {} },
    { id: 'x' },
    { patternProperties: {} },
    { discriminator: 1 },
    { anyOf: [{ type: 'string' }] },
    { 'x-kubernetes-map-type': 'x' },
    { 'x-kubernetes-embedded-resource': true },
    { 'x-kubernetes-int-or-string': true },
    { readOnly: true },
    { deprecated: true },
    { title: 'T' },
    { externalDocs: { url: 'x' } },
  ])

const TEXTS = {
  'date-time': ['2024-01-02T03:04:05Z', '2024-01-02t03:04:05.5+01:00', '2024-01-02'],
  date: ['2024-01-02', '2024-13-01'],
  duration: ['1h', '5 s', 'P1D', 'x'],
  byte: ['aGk=', 'a', '*'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', 'x'],
  email: ['a@b.c', 'a'],
  ipv4: ['1.2.3.4', '::1', '01.2.3.4'],
  ipv6: ['::1', '1.2.3.4'],
  cidr: ['10.0.0.0/8', '10.0.0.0'],
  uri: ['http://a/b', 'a b', '/x'],
  hostname: ['a.b', '-a'],
  default: ['a', 'ab', 'b', 'abc', '', '12', 'ä'],
}

/** A value of the schema; with `wrong`, parts of it are anything. */
export function valueFor(random, schema, wrong = 0.05) {
  if (random.chance(wrong)) return hostileValue(random)
  if (schema.enum && random.chance(0.8)) return random.pick(schema.enum)
  if (schema.nullable && random.chance(0.15)) return null
  if (schema['x-kubernetes-int-or-string']) return random.pick([1, '50%', 'x', 80])
  switch (schema.type) {
    case 'string':
      return random.pick(TEXTS[schema.format] ?? TEXTS.default)
    case 'integer':
      return random.pick([0, 1, 2, 5, 11, -6, 100])
    case 'number':
      return random.pick([0, 0.5, 1, 2.5, 3.75, 100])
    case 'boolean':
      return random.chance(0.5)
    case 'array':
      return random.times(random.between(0, 3), () => valueFor(random, schema.items ?? {}, wrong))
    case 'object':
      return objectFor(random, schema, wrong)
    default:
      return random.pick(['x', 1, { a: 1 }, [1]])
  }
}

function objectFor(random, schema, wrong) {
  const object = {}
  for (const [name, of] of Object.entries(schema.properties ?? {})) {
    if (schema.required?.includes(name) ? random.chance(0.95) : random.chance(0.6))
      object[name] = valueFor(random, of, wrong)
  }
  if (typeof schema.additionalProperties === 'object') {
    for (const name of random.some(['k', 'l', 'm.n', ''], 0.3))
      object[name] = valueFor(random, schema.additionalProperties, wrong)
  }
  if (schema['x-kubernetes-embedded-resource']) {
    Object.assign(object, {
      apiVersion: random.pick(['v1', 'a/b', 'x/y/z', '']),
      kind: random.pick(['Pod', 'x', 'x y']),
      metadata: random.pick([{ name: 'a' }, {}, { name: 'A', labels: { a: 'b' } }, { labels: { a: 1 } }, 'x']),
    })
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] || random.chance(0.05))
    object.extra = random.pick([1, { x: [null] }, 'y', null])
  return object
}
