// The layout of a host's values in memory, for hosts whose values are views of plain objects. An expression that is
// evaluated often reads the plain objects directly (see javascript/).
import type { Value } from '../values/values.js'

export type Layout = ScalarLayout | PlainLayout | CompoundLayout | DynamicLayout | HiddenLayout

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

/**
 * Values of no declared type, as JSON has them: texts, booleans, null, numbers (whole ones are ints), arrays, and objects
 * that are maps. What a value is, the code finds out when it reads it.
 */
export interface DynamicLayout {
  readonly kind: 'dynamic'
  /** Whether something that was read is a map; it may be anything. */
  readonly isMap: (raw: never) => boolean
  /** The plain value behind a view. */
  readonly behind: (value: Value) => unknown
  readonly view: (raw: never) => Value
}

/** Read only through its view, which caches what it computes. */
export interface HiddenLayout {
  readonly kind: 'hidden'
}

export const isCompound = (layout: Layout): layout is CompoundLayout =>
  layout.kind === 'object' || layout.kind === 'map' || layout.kind === 'list'

export const isDynamic = (layout: unknown): layout is DynamicLayout =>
  typeof layout === 'object' && (layout as Layout).kind === 'dynamic'
