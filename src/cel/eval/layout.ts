// How the values of a host lie in memory, for hosts whose values are views of something plainer. An expression that is
// evaluated often reads what is behind the view where it is (see javascript/).
import type { Value } from '../values/values.js'

export type Layout = ScalarLayout | PlainLayout | CompoundLayout | HiddenLayout

/** A text, a boolean, or an int that is a number: what is behind the view is the value itself. */
export interface ScalarLayout {
  readonly kind: 'string' | 'int' | 'bool'
}

/** What is made into a value in no time, each time it is read. */
export interface PlainLayout {
  readonly kind: 'plain'
  readonly read: (raw: never) => Value
}

/** Objects and arrays of JavaScript. */
export interface CompoundLayout {
  readonly kind: 'object' | 'map' | 'list'
  /** Whether something that was read has this layout at all; it may be anything. */
  readonly fits: (raw: never) => boolean
  /** What is behind the view of a value; undefined if it is no such view. */
  readonly behind: (value: Value) => unknown
  /** A field of an object: the property that holds it. */
  readonly field: (name: string) => { readonly property: string; readonly layout: Layout } | undefined
  /** What a list or map holds. */
  readonly element: () => Layout
}

/** What is only to be read through its view, which keeps what it took some work to find out. */
export interface HiddenLayout {
  readonly kind: 'hidden'
}

export const isCompound = (layout: Layout): layout is CompoundLayout =>
  layout.kind === 'object' || layout.kind === 'map' || layout.kind === 'list'
