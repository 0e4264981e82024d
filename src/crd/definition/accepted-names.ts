// Which names of a definition are accepted: those that no other definition of its group has. Names of resources and
// names of kinds are independent. Accepted names are kept until the definition has other ones.
import { once } from '../../base/memo.js'
import { quote } from '../../meta/go/go-text.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { DefinitionNames } from '../definition.js'

export interface Acceptance {
  readonly names: DefinitionNames
  /** The last conflict, if there are several. */
  readonly conflict?: { readonly reason: string; readonly message: string }
}

/** `taken` are the accepted names of all definitions of the group, its own included. */
export function acceptNames(
  wanted: DefinitionNames,
  accepted: DefinitionNames,
  taken: readonly DefinitionNames[],
): Acceptance {
  // Most definitions have all their names already.
  const namesInUse = once(
    () => new Set(taken.flatMap(({ plural, singular = '', shortNames = [] }) => [plural, singular, ...shortNames])),
  )
  const isResource = (name: string): boolean => namesInUse().has(name)
  const isKind = (name: string): boolean => taken.some(({ kind, listKind = '' }) => name === kind || name === listKind)
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
