// The schema of a definition as rows of a tree.

export interface JsonSchema {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly nullable?: boolean
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly additionalProperties?: JsonSchema | boolean
  readonly [keyword: string]: unknown
}

export interface SchemaRow {
  /** `spec.hosts[]`. */
  readonly path: string
  readonly name: string
  readonly depth: number
  readonly schema: JsonSchema
  readonly isRequired: boolean
  readonly hasChildren: boolean
}

/** All rows whose parents are open; `isOpen` decides by the path. */
export function rowsOf(root: JsonSchema, isOpen: (path: string, depth: number) => boolean): readonly SchemaRow[] {
  const rows: SchemaRow[] = []
  const visit = (schema: JsonSchema, path: string, name: string, depth: number, isRequired: boolean): void => {
    const children = childrenOf(schema, path)
    rows.push({ path, name, depth, schema, isRequired, hasChildren: children.length > 0 })
    if (!isOpen(path, depth)) return
    for (const child of children) visit(child.schema, child.path, child.name, depth + 1, child.isRequired)
  }
  for (const child of childrenOf(root, '')) visit(child.schema, child.path, child.name, 0, child.isRequired)
  return rows
}

type Child = Pick<SchemaRow, 'path' | 'name' | 'schema' | 'isRequired'>

function childrenOf(schema: JsonSchema, path: string): readonly Child[] {
  const { properties = {}, items, additionalProperties, required = [] } = schema
  const named = Object.entries(properties).map(([name, property]) => ({
    name,
    schema: property,
    path: path === '' ? name : `${path}.${name}`,
    isRequired: required.includes(name),
  }))
  // A list or map of objects shows the fields of the objects at once.
  const element = items ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
  if (element === undefined || (element.properties === undefined && element.items === undefined)) return named
  return [...named, ...childrenOf(element, `${path}${items === undefined ? '[*]' : '[]'}`)]
}

/** `[]string`, `map of object`, `integer (int32)`. */
export function typeOf({ type = 'any', format, items, additionalProperties, ...schema }: JsonSchema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'int or string'
  if (items !== undefined) return `[]${typeOf(items)}`
  if (typeof additionalProperties === 'object') return `map of ${typeOf(additionalProperties)}`
  return format === undefined ? type : `${type} (${format})`
}

const CONSTRAINTS = [
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
]

/** Short texts such as `maxLength 20`. */
export function constraintsOf(schema: JsonSchema): readonly string[] {
  const found = CONSTRAINTS.filter(name => schema[name] !== undefined).map(name =>
    `${name.replace('x-kubernetes-', '')} ${print(schema[name])}`.replace(/ true$/, ''),
  )
  if (schema.enum !== undefined) found.unshift(`one of ${schema.enum.map(print).join(', ')}`)
  if (schema.nullable === true) found.push('nullable')
  return found
}

export const print = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

export interface Rule {
  readonly rule: string
  readonly message?: string
}

export const rulesOf = (schema: JsonSchema): readonly Rule[] =>
  (schema['x-kubernetes-validations'] as readonly Rule[] | undefined) ?? []
