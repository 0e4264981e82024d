// The layout of a host's values in memory, for hosts whose values are views of plain objects. An expression that is
// evaluated often reads the plain objects directly (see javascript/).
import type { Value } from '../values/values.js'

export type Layout = ScalarLayout | PlainLayout | CompoundLayout | HiddenLayout

/** A text, a boolean, or an int that is a number: the plain value is the value itself. */
export interface ScalarLayout {
  readonly kind: 'string' | 'int' | 'bool'
}

/** Converted each time it is read, which is cheap. */
export interface PlainLayout {
  readonly kind: 'plain'
  readonly read: (raw: never) => Value
}

/** Objects and arrays of JavaScript. */
export interface CompoundLayout {
  readonly kind: 'object' | 'map' | 'list'
  /** Whether something that was read has this layout at all; it may be anything. */
  readonly fits: (raw: never) => boolean
  /** The plain object behind the view; undefined if the value is no such view. */
  readonly behind: (value: Value) => unknown
  /** A field of an object: the property that holds it. */
  readonly field: (name: string) => { readonly property: string; readonly layout: Layout } | undefined
  /** The elements of a list or map. */
  readonly element: () => Layout
}

/** Read only through its view, which caches what it computes. */
export interface HiddenLayout {
  readonly kind: 'hidden'
}

export const isCompound = (layout: Layout): layout is CompoundLayout =>
  layout.kind === 'object' || layout.kind === 'map' || layout.kind === 'list'
