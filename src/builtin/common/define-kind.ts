// What one version of a built-in kind is, apart from the facts in the type table: one value for each kind, written in
// the file of the kind and listed in `builtin-kinds.ts`. Every part may be left out.
import type { ValueObject } from '../../meta/values/value.js'
import type { TypeTable } from '../../types/type-table.js'
import type { SelectableFields } from './selectable-fields.js'
import type { BuiltinStrategy } from './strategies.js'
import type { TableRow } from './table-cells.js'
import type { Validation } from './validation.js'

export interface KindParts {
  /** Fills in, in place, what the client left out; defaults that are constants of a field are in the type table. */
  readonly defaults?: (object: ValueObject, now: number) => void
  /**
   * What a write sets, keeps and clears. Without it a kind keeps what the client sends, and a status that has an
   * endpoint of its own is written only there.
   */
  readonly strategy?: BuiltinStrategy | ((table: TypeTable) => BuiltinStrategy)
  /** Fields that a write to the status leaves alone for server-side apply, beside `spec`. */
  readonly statusReset?: readonly string[]
  /** A manager that sends a status with the object owns it, although only `/status` changes it. */
  readonly statusIsOwnedWithObject?: boolean
  /** What is refused. Without it only metadata is checked. */
  readonly validation?: Validation
  /** Warnings that come with the response to a write that is accepted. */
  readonly warnings?: Warnings
  /** The same for a write to the status. */
  readonly statusWarnings?: (object: ValueObject) => string[]
  /** The cells of an object's row in a Table. Without it: name and age. */
  readonly table?: TableRow
  /** The fields that a field selector may name beside `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: SelectableFields
  /** Where the objects are stored, if not under the plural name of the resource. */
  readonly keyPrefix?: string
  /** The apiVersion in which the objects are stored, if it is not the newest one or is of another group. */
  readonly storedAs?: string
  /** Groups and versions of other kinds that serve the same objects. */
  readonly alsoServedAs?: readonly string[]
  /** An object of this version as another version has it, for versions that differ in more than their name. */
  readonly convert?: (object: ValueObject, to: string, table: TypeTable) => ValueObject
  /**
   * The parts that are others while a feature gate is not at its default, by gate. Several gates in one name, with spaces
   * between them, stand for all of them together, and come after the single ones.
   */
  readonly changedBy?: Readonly<Record<string, KindParts>>
}

export interface KindDefinition extends KindParts {
  readonly apiVersion: string
  readonly kind: string
}

/** The warnings about an object that is created, or that replaces an old one. */
export type Warnings = (object: ValueObject, old: ValueObject | undefined) => string[]

export const defineKind = (apiVersion: string, kind: string, parts: KindParts = {}): KindDefinition => ({
  apiVersion,
  kind,
  ...parts,
})
