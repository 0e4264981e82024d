// Which names of a definition are accepted: those that no other definition of its group has. Names of resources and
// names of kinds are independent. Accepted names are kept until the definition has other ones.
import { quote } from '../../meta/go/go-text.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { DefinitionNames } from '../definition.js'

export interface Acceptance {
  readonly names: DefinitionNames
  /** The last conflict, if there are several. */
  readonly conflict?: { readonly reason: string; readonly message: string }
}

/** The accepted names of the definitions of a group. */
export interface TakenNames {
  isResource(name: string): boolean
  isKind(name: string): boolean
}

export interface GroupNames extends TakenNames {
  /** The names that a definition has from now on. */
  put(definition: string, names: DefinitionNames): void
  remove(definition: string): void
  definitions(): Iterable<string>
  readonly size: number
}

/** The names are counted: a group may have thousands of definitions, and each is compared with all others. */
export function createGroupNames(): GroupNames {
  const all = new Map<string, DefinitionNames>()
  const resources = new Map<string, number>()
  const kinds = new Map<string, number>()

  function count({ plural, singular = '', shortNames = [], kind, listKind = '' }: DefinitionNames, by: number): void {
    for (const name of [plural, singular, ...shortNames]) add(resources, name, by)
    for (const name of [kind, listKind]) add(kinds, name, by)
  }

  function remove(definition: string): void {
    const names = all.get(definition)
    if (names) count(names, -1)
    all.delete(definition)
  }

  return {
    isResource: name => resources.has(name),
    isKind: name => kinds.has(name),
    put(definition, names) {
      remove(definition)
      all.set(definition, names)
      count(names, 1)
    },
    remove,
    definitions: () => all.keys(),
    get size() {
      return all.size
    },
  }
}

function add(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}

export const NO_NAMES: TakenNames = { isResource: () => false, isKind: () => false }

export function namesTakenBy(all: readonly DefinitionNames[]): TakenNames {
  const names = createGroupNames()
  for (const each of all) names.put(each.plural, each)
  return names
}

/** `taken` includes the names that the definition has itself. */
export function acceptNames(
  wanted: DefinitionNames,
  accepted: DefinitionNames,
  { isResource, isKind }: TakenNames,
): Acceptance {
  let conflict: Acceptance['conflict']

  const decide = (reason: string, want: string, got: string, isUsed: (name: string) => boolean): string => {
    if (want === got || !isUsed(want)) return want
    conflict = { reason, message: inUse(want) }
    return got
  }
  const decideShortNames = (): readonly string[] => {
    const want = wanted.shortNames ?? []
    const got = accepted.shortNames ?? []
    if (equalValues(want as Value, got as Value)) return got
    const had = new Set(got)
    const clashes = want.filter(name => !had.has(name) && isResource(name)).map(inUse)
    if (clashes.length === 0) return want
    const messages = [...new Set(clashes)]
    conflict = {
      reason: 'ShortNamesConflict',
      message: messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`,
    }
    return got
  }

  const plural = decide('PluralConflict', wanted.plural, accepted.plural, isResource)
  const singular = decide('SingularConflict', wanted.singular ?? '', accepted.singular ?? '', isResource)
  const shortNames = decideShortNames()
  const kind = decide('KindConflict', wanted.kind, accepted.kind, isKind)
  const listKind = decide('ListKindConflict', wanted.listKind ?? '', accepted.listKind ?? '', isKind)
  const names = namesOf({ plural, singular, shortNames, kind, listKind, categories: wanted.categories ?? [] })
  return conflict ? { names, conflict } : { names }
}

const inUse = (name: string): string => `${quote(name)} is already in use`

/** Names as they are written: what is empty is left out, but for the two that must be there. */
function namesOf({
  plural,
  singular,
  shortNames,
  kind,
  listKind,
  categories,
}: Required<DefinitionNames>): DefinitionNames {
  return {
    plural,
    ...(singular && { singular }),
    ...(shortNames.length > 0 && { shortNames }),
    kind,
    ...(listKind && { listKind }),
    ...(categories.length > 0 && { categories }),
  }
}
