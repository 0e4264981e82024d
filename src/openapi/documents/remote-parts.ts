// Joins documents of extension servers in version 2 with that of this server. A definition whose name is taken by a
// different one gets another name, `NAME_v2`, as with kube-apiserver.
import { objectAt } from '../../meta/values/access.js'
import { equalValues, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { RemoteSpec } from '../remote-documents.js'
import type { Definition } from '../schemas/dialect.js'
import type { FindDefinition } from '../schemas/type-schemas.js'
import type { Part } from './parts.js'

export interface RemoteParts {
  readonly parts: readonly Part[]
  readonly find: FindDefinition
}

/** `find` finds the definitions of this server. */
export function remoteParts(specs: readonly RemoteSpec[], find: FindDefinition): RemoteParts {
  const added = new Map<string, Definition>()
  const paths = new Set<string>()
  const findAny: FindDefinition = name => added.get(name) ?? find(name)
  const parts = specs.map(({ spec, prefix }) => {
    const own = Object.entries(objectAt(spec, 'paths')).filter(([path]) => path.startsWith(prefix) && !paths.has(path))
    for (const [path] of own) paths.add(path)
    const definitions = objectAt(spec, 'definitions')
    const used = reachable(Object.fromEntries(own), definitions)
    const names = new Map([...used].map(name => [name, freeName(name, definitions, findAny)]))
    const renamed = (value: Value): Value => withRefs(value, names)
    for (const name of used) {
      const newName = names.get(name)!
      if (findAny(newName)) continue
      const needs = refsIn(definitions[name]!).map(each => names.get(each) ?? each)
      added.set(newName, { json: Buffer.from(JSON.stringify(renamed(definitions[name]!))), needs })
    }
    return {
      paths: Buffer.from(own.map(([path, item]) => `${JSON.stringify(path)}:${JSON.stringify(renamed(item))}`).join()),
      names: [...names.values()],
      parameters: parametersOf(spec, own),
    }
  })
  return { parts, find: findAny }
}

/** The name itself if it is free or stands for an equal definition; otherwise the first one with a number of which that is so. */
function freeName(name: string, definitions: ValueObject, find: FindDefinition): string {
  for (let i = 1; ; i++) {
    const candidate = i === 1 ? name : `${name}_v${i}`
    const existing = find(candidate)
    const isFree = !existing && (i === 1 || !Object.hasOwn(definitions, candidate))
    if (isFree || (existing && isAlike(existing, definitions[name]!))) return candidate
  }
}

/** Descriptions and the kinds that a definition is for do not make it another one. */
const isAlike = ({ json }: Definition, other: Value): boolean =>
  equalValues(withoutTexts(JSON.parse(json.toString()) as Value), withoutTexts(other))

function withoutTexts(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutTexts)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(
    ([name, member]) =>
      name !== 'x-kubernetes-group-version-kind' && !(name === 'description' && typeof member === 'string'),
  )
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutTexts(member)]))
}

// ---- references

const DEFINITION = '#/definitions/'
const PARAMETER = '#/parameters/'

function reachable(from: ValueObject, definitions: ValueObject): Set<string> {
  const found = new Set<string>()
  const open = refsIn(from)
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name) || !Object.hasOwn(definitions, name)) continue
    found.add(name)
    open.push(...refsIn(definitions[name]!))
  }
  return found
}

const refsIn = (value: Value, prefix = DEFINITION): string[] => {
  if (Array.isArray(value)) return value.flatMap(each => refsIn(each, prefix))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' && typeof member === 'string' && member.startsWith(prefix)
      ? [member.slice(prefix.length)]
      : refsIn(member, prefix),
  )
}

function withRefs(value: Value, names: ReadonlyMap<string, string>): Value {
  if (Array.isArray(value)) return value.map(each => withRefs(each, names))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isRef = name === '$ref' && typeof member === 'string' && member.startsWith(DEFINITION)
      if (!isRef) return [name, withRefs(member, names)]
      const target = member.slice(DEFINITION.length)
      return [name, `${DEFINITION}${names.get(target) ?? target}`]
    }),
  )
}

/** Their names contain a hash, so that equal names mean equal parameters. */
function parametersOf(spec: ValueObject, paths: readonly [string, Value][]): Map<string, string> {
  const parameters = objectAt(spec, 'parameters')
  const names = new Set(paths.flatMap(([, item]) => refsIn(item, PARAMETER)))
  return new Map(
    [...names].flatMap(name => (Object.hasOwn(parameters, name) ? [[name, JSON.stringify(parameters[name])]] : [])),
  )
}
