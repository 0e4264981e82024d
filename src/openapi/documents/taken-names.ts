// In the document of the whole API, a custom kind can have the name of a built-in type: group
// `apps.api.k8s.io`, version v1, kind Deployment. The built-in type keeps the name, and the custom kind gets another one.
import type { Definition } from '../schemas/dialect.js'
import type { FindDefinition } from '../schemas/type-schemas.js'
import type { Part } from './parts.js'

/** The new names of those custom definitions whose name is taken. */
export function newNames(custom: Iterable<string>, isTaken: (name: string) => boolean): ReadonlyMap<string, string> {
  return new Map([...custom].filter(isTaken).map(name => [name, `${name}_v2`]))
}

/** Paths of a custom kind that refer to its definitions by their new names. */
export const renamePart = (part: Part, names: ReadonlyMap<string, string>): Part =>
  part.names.some(name => names.has(name))
    ? { ...part, paths: renameReferences(part.paths, names), names: part.names.map(renamedBy(names)) }
    : part

/** Finds custom definitions by their new names, and built-in ones by the names that both have. */
export function renameDefinitions(
  custom: ReadonlyMap<string, Definition>,
  names: ReadonlyMap<string, string>,
): FindDefinition {
  const found = new Map<string, Definition>()
  for (const [name, definition] of custom) {
    const { json, needs } = definition
    found.set(
      names.get(name) ?? name,
      needs.some(need => names.has(need))
        ? { json: renameReferences(json, names), needs: needs.map(renamedBy(names)) }
        : definition,
    )
  }
  return name => found.get(name)
}

const renamedBy =
  (names: ReadonlyMap<string, string>) =>
  (name: string): string =>
    names.get(name) ?? name

function renameReferences(json: Buffer, names: ReadonlyMap<string, string>): Buffer {
  let text = json.toString()
  for (const [name, other] of names) text = text.replaceAll(`"#/definitions/${name}"`, `"#/definitions/${other}"`)
  return Buffer.from(text)
}
