import { describe, expect, it } from 'vitest'
import type { DefinitionNames } from '../definition.js'
import { acceptNames } from './accepted-names.js'

const NONE: DefinitionNames = { plural: '', kind: '' }
const GADGETS: DefinitionNames = {
  plural: 'gadgets',
  singular: 'gadget',
  shortNames: ['gg'],
  kind: 'Gadget',
  listKind: 'GadgetList',
}
const GIZMOS: DefinitionNames = { plural: 'gizmos', singular: 'gizmo', kind: 'Gizmo', listKind: 'GizmoList' }

describe('names', () => {
  it('are all accepted if no other definition has them', () => {
    expect(acceptNames(GADGETS, NONE, [NONE, GIZMOS])).toEqual({ names: GADGETS })
  })

  it.each<[string, Partial<DefinitionNames>, string]>([
    ['a plural that is a short name', { plural: 'gg' }, 'PluralConflict'],
    ['a singular', { singular: 'gadget' }, 'SingularConflict'],
    ['a short name', { shortNames: ['gz', 'gg'] }, 'ShortNamesConflict'],
    ['a kind that is a list kind', { kind: 'GadgetList' }, 'KindConflict'],
    ['a list kind', { listKind: 'GadgetList' }, 'ListKindConflict'],
  ])('%s that another has is left out', (_, change, reason) => {
    const { names, conflict } = acceptNames({ ...GIZMOS, ...change }, NONE, [NONE, GADGETS])
    expect(conflict?.reason).toBe(reason)
    const [field] = Object.keys(change) as (keyof DefinitionNames)[]
    expect(names[field!] ?? '').toBe('')
  })

  it('that were accepted stay when new ones clash', () => {
    const { names } = acceptNames({ ...GIZMOS, kind: 'Gadget' }, GIZMOS, [GIZMOS, GADGETS])
    expect(names).toEqual(GIZMOS)
  })
})
