import { describe, expect, it } from 'vitest'
import type { DefinitionNames } from '../definition.js'
import { acceptNames, createGroupNames, namesTakenBy } from './accepted-names.js'

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
    expect(acceptNames(GADGETS, NONE, namesTakenBy([NONE, GIZMOS]))).toEqual({ names: GADGETS })
  })

  it.each<[string, Partial<DefinitionNames>, string]>([
    ['a plural that is a short name', { plural: 'gg' }, 'PluralConflict'],
    ['a singular', { singular: 'gadget' }, 'SingularConflict'],
    ['a short name', { shortNames: ['gz', 'gg'] }, 'ShortNamesConflict'],
    ['a kind that is a list kind', { kind: 'GadgetList' }, 'KindConflict'],
    ['a list kind', { listKind: 'GadgetList' }, 'ListKindConflict'],
  ])('%s that another has is left out', (_, change, reason) => {
    const { names, conflict } = acceptNames({ ...GIZMOS, ...change }, NONE, namesTakenBy([NONE, GADGETS]))
    expect(conflict?.reason).toBe(reason)
    const [field] = Object.keys(change) as (keyof DefinitionNames)[]
    expect(names[field!] ?? '').toBe('')
  })

  it('that were accepted stay when new ones clash', () => {
    const { names } = acceptNames({ ...GIZMOS, kind: 'Gadget' }, GIZMOS, namesTakenBy([GIZMOS, GADGETS]))
    expect(names).toEqual(GIZMOS)
  })

  it('are free again when the last definition that has them gives them up', () => {
    const group = createGroupNames()
    group.put('a', GADGETS)
    group.put('b', { ...GIZMOS, shortNames: ['gg'] })
    group.put('a', { ...GADGETS, plural: 'others', shortNames: [] })
    expect(['gadgets', 'gadget', 'gg'].map(group.isResource)).toEqual([false, true, true])
    group.remove('b')
    expect([group.isResource('gg'), group.isKind('Gizmo'), group.isKind('Gadget')]).toEqual([false, false, true])
    group.remove('a')
    expect([group.isKind('Gadget'), group.size]).toEqual([false, 0])
  })
})
