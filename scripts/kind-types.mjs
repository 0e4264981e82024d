// Writes the TypeScript types of the built-in kinds from the type table: a file for each group version, such as
// kinds/apps/v1.d.ts, and kinds/index.d.ts, which declares them to `server.client` of binnacle/testing.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const HEADER = '// Types of the built-in kinds. Written by scripts/kind-types.mjs from the type table.\n'

/** What the encoding of a special type allows. */
const SPECIAL = {
  'meta/v1.Time': 'string',
  'meta/v1.MicroTime': 'string',
  'api/resource.Quantity': 'string',
  'util/intstr.IntOrString': 'number | string',
  'runtime.RawExtension': 'Record<string, unknown>',
  'meta/v1.FieldsV1': 'Record<string, unknown>',
  'apiextensions/v1.JSON': 'unknown',
  'apiextensions/v1.JSONSchemaPropsOrArray': 'JSONSchemaProps | JSONSchemaProps[]',
  'apiextensions/v1.JSONSchemaPropsOrBool': 'JSONSchemaProps | boolean',
  'apiextensions/v1.JSONSchemaPropsOrStringArray': 'JSONSchemaProps | string[]',
}

const SCALARS = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  float64: 'number',
  bytes: 'string',
}

/** Subresources that are no objects: streams, connections and text. */
const NOT_OBJECTS = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** Writes the files, and returns their paths. `modules` is the folder of the compiled modules. */
export async function writeKindTypes(modules, folder) {
  const { builtinTypes } = await import(join(modules, 'types', 'type-table.js'))
  const { describeField, describeType } = await import(join(modules, 'openapi', 'schemas', 'descriptions.js'))
  const table = builtinTypes()
  const resources = [...new Set([...table.groupVersions(), ...table.optionalVersions()])].flatMap(apiVersion =>
    table.resources(apiVersion).map(resource => Object.assign({ apiVersion }, resource)),
  )
  const kinds = resources.filter(({ name }) => !name.includes('/')).map(resource => readKind(table, resource))
  const subresources = resources
    .filter(({ name }) => name.includes('/') && !NOT_OBJECTS.has(name.split('/')[1]))
    .map(resource => readSubresource(table, resource, kinds))
  // The type of a subresource that is the object itself, such as status, is that of the kind.
  const roots = new Map([...subresources, ...kinds].map(each => [each.type.name, each]))

  const printed = new Map()
  const print = type => {
    if (printed.has(type.name)) return
    printed.set(type.name, '')
    printed.set(type.name, printInterface(type, roots.get(type.name)))
  }
  const describe = (text, indent) =>
    text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll(/\s*\n\s*/g, ' ')} */\n`

  function printInterface(type, root) {
    const { file } = placeOf(type.name)
    const members = [...type.fields.values()].map(field => {
      const isTyped = root !== undefined && (field.name === 'apiVersion' || field.name === 'kind')
      const text = isTyped ? `'${root[field.name]}'` : printField(field, file)
      const isThere = isTyped || field.required || (root !== undefined && isAlwaysEncoded(field, root))
      const comment =
        isTyped || (root !== undefined && field.name === 'metadata')
          ? undefined
          : describeField(field.go.declaredBy, field.name)
      const key = /^\w+$/.test(field.name) ? field.name : `'${field.name}'`
      return `${describe(comment, '  ')}  ${key}${isThere ? '' : '?'}: ${text}\n`
    })
    return `${describe(describeType(type.name), '')}export interface ${placeOf(type.name).name} {\n${members.join('')}}\n`
  }

  function printField(field, file) {
    const { enum: values, elementEnum } = field.go.spec
    if (values !== undefined && field.type.kind === 'string') return union(values)
    if (elementEnum !== undefined && field.type.kind === 'list') return `(${union(elementEnum)})[]`
    return printType(field.type, file)
  }

  function printType(type, file) {
    if (type.kind === 'list') {
      const element = printType(type.element, file)
      return element.includes(' ') && !element.startsWith('Record<') ? `(${element})[]` : `${element}[]`
    }
    if (type.kind === 'map') return `Record<string, ${printType(type.element, file)}>`
    if (type.kind === 'any') return 'unknown'
    if (type.kind in SCALARS) return SCALARS[type.kind]
    if (type.kind === 'special') {
      const text = SPECIAL[type.name]
      if (text === undefined) throw new Error(`the special type ${type.name} has no TypeScript type in kind-types.mjs`)
      if (text.includes('JSONSchemaProps')) print(table.byName('apiextensions/v1.JSONSchemaProps'))
      return text
    }
    print(type)
    const place = placeOf(type.name)
    return place.file === file ? place.name : `${aliasOf(place.file)}.${place.name}`
  }

  for (const { type } of [...kinds, ...subresources]) print(type)
  const byFile = groupBy(printed, ([name]) => placeOf(name).file)
  const files = [...byFile].map(([file, entries]) => {
    const text = entries.map(([, each]) => each).join('\n')
    return write(folder, file, `${HEADER}${imports(text, '../', file)}\n${text}`)
  })
  return [...files, write(folder, 'index', printIndex(kinds, subresources))]
}

/** A resource with the type of its objects. */
const readKind = (table, { apiVersion, kind, name, verbs }) => ({
  apiVersion,
  kind,
  resource: name,
  type: table.ofKind(apiVersion, kind),
  isStored: verbs.includes('get'),
})

/** The kind of a subresource can be one of another group version. */
function readSubresource(table, { apiVersion, name, group, version, kind, verbs }, kinds) {
  const [resource, subresource] = name.split('/')
  const own = version === undefined ? apiVersion : group ? `${group}/${version}` : version
  const of = kinds.find(each => each.resource === resource && each.apiVersion === apiVersion)
  return { of, name: subresource, ...readKind(table, { apiVersion: own, kind, name, verbs }) }
}

/** A struct that is no pointer is encoded even if it is empty. Objects that are not stored have no metadata. */
const isAlwaysEncoded = ({ name, type, go }, { isStored }) =>
  type.kind === 'object' && (name === 'metadata' ? isStored : !(go.spec.pointer || go.spec.omitzero))

function printIndex(kinds, subresources) {
  const reference = type => `${aliasOf(placeOf(type.name).file)}.${placeOf(type.name).name}`
  const block = (name, versions) =>
    `  interface ${name} {\n${[...versions].map(([apiVersion, members]) => `    '${apiVersion}': {\n${members.map(each => `      ${each}\n`).join('')}    }\n`).join('')}  }\n`
  const byVersion = groupBy(kinds, each => each.apiVersion)
  const own = new Map(
    [...byVersion].map(([at, each]) => [at, each.map(({ kind, type }) => `${kind}: ${reference(type)}`)]),
  )
  const below = new Map(
    [...byVersion].map(([at, each]) => [
      at,
      each.map(kind => {
        const members = subresources
          .filter(({ of }) => of === kind)
          .map(({ name, type }) => `${name}: ${reference(type)}`)
        return `${kind.kind}: {${members.length === 0 ? '' : ` ${members.join('; ')} `}}`
      }),
    ]),
  )
  const text = `declare module '../testing/kinds.js' {\n${block('Kinds', own)}${block('Subresources', below)}}\n`
  return `${HEADER}${imports(text, './')}\n${text}`
}

function groupBy(items, keyOf) {
  const groups = new Map()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

const union = values => values.map(value => `'${value}'`).join(' | ')

/** `apps/v1.Deployment` is Deployment of the file apps/v1. */
function placeOf(name) {
  const dot = name.lastIndexOf('.')
  return { file: name.slice(0, dot), name: name.slice(dot + 1) }
}

const aliasOf = file => file.replaceAll(/\W/g, '_')

function imports(text, to, own) {
  const files = new Set([...text.matchAll(/\b([a-z0-9]+_v[a-z0-9]+)\.[A-Z]/g)].map(([, alias]) => alias))
  return [...files]
    .map(alias => ({ alias, file: alias.replace('_', '/') }))
    .filter(({ file }) => file !== own)
    .map(({ alias, file }) => `import type * as ${alias} from '${to}${file}.js'\n`)
    .join('')
}

function write(folder, file, text) {
  const path = join(folder, `${file}.d.ts`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}
