// One difference between two definitions, and what it means.

export type Impact = 'compatible' | 'writers' | 'readers' | 'stored'

export interface Change {
  readonly impact: Impact
  /** In the new definition; a part that is gone is shown where it was. */
  readonly at: string
  readonly message: string
  readonly why: string
}

export type AddChange = (impact: Impact, at: string, message: string, why: string) => void

export const WHY = {
  refusesNew: 'writes that were accepted are refused',
  ratcheted: 'writes that set such a value are refused; objects that have one stay until that part of them changes',
  readers: 'clients that read the objects meet what they did not know, or miss what they relied on',
  pruned: 'the field is dropped from stored objects when they are read or written',
  wider: 'more is accepted than before',
} as const
