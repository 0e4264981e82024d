// Objects of built-in kinds for tests, taken in as a create or an update takes them in.
import { printField, printFieldErrorBody } from '../meta/errors/field-errors.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { decodeTyped } from '../types/go/decode.js'
import { builtinTypes } from '../types/type-table.js'
import { definitionOf } from './builtin-kinds.js'
import * as build from './common/build-kind.js'
import { NO_OWN_FIELDS, type SelectableFields } from './common/selectable-fields.js'
import type { BuiltinStrategy } from './common/strategies.js'
import type { TableRow } from './common/table-cells.js'
import type { Validation } from './common/validation.js'

const table = builtinTypes()
const context = { now: '2020-01-01T00:00:00Z' }

// ---- the parts of a kind's definition

export const strategyOf = (apiVersion: string, kind: string): BuiltinStrategy =>
  build.strategyOf(table, definitionOf(apiVersion, kind))

export const validationOf = (apiVersion: string, kind: string, namespaced: boolean): Validation =>
  build.validationOf(definitionOf(apiVersion, kind), namespaced)

export const applyDefaults = (apiVersion: string, kind: string, object: ValueObject): ValueObject =>
  build.applyDefaults(table, definitionOf(apiVersion, kind), object)

export const warningsFor = (apiVersion: string, kind: string, object: ValueObject, old?: ValueObject): string[] =>
  definitionOf(apiVersion, kind).warnings?.(object, old) ?? []

export const selectableFieldsOf = (apiVersion: string, kind: string): SelectableFields =>
  definitionOf(apiVersion, kind).selectableFields ?? NO_OWN_FIELDS

/** The Table row of a resource, by its plural name. */
export function tableRowOf(apiVersion: string, plural: string): TableRow {
  const { kind } = table.resources(apiVersion).find(({ name }) => name === plural)!
  return build.tableRowOf(table, definitionOf(apiVersion, kind), plural)
}

// ---- written objects

const isNamespaced = (apiVersion: string, kind: string): boolean =>
  table.resources(apiVersion).some(resource => resource.kind === kind && resource.namespaced)

/** The object as it is stored when it is created under the name `x`; services have no addresses yet. */
export function created(apiVersion: string, kind: string, plain: ValueObject): ValueObject {
  const object = takenIn(apiVersion, kind, plain)
  const strategy = strategyOf(apiVersion, kind)
  strategy.prepareForCreate?.(object, context)
  strategy.finish?.(object)
  return decodeTyped(table.ofKind(apiVersion, kind)!, object).value
}

/** The object as it is stored when a merge patch changes an old one, or a part of it. */
export function changed(
  apiVersion: string,
  kind: string,
  old: ValueObject,
  patch: ValueObject,
  subresource?: string,
): ValueObject {
  const object = takenIn(apiVersion, kind, merge(old, patch) as ValueObject)
  const strategy = strategyOf(apiVersion, kind)
  const step =
    subresource === undefined
      ? strategy.prepareForUpdate
      : subresource === 'status'
        ? strategy.prepareForStatusUpdate
        : strategy.prepareForSubresourceUpdate?.[subresource]
  step?.(object, old, context)
  strategy.finish?.(object)
  return decodeTyped(table.ofKind(apiVersion, kind)!, object).value
}

/** What is wrong with an object that is to be created, as causes of a Status. */
export const errorsOf = (apiVersion: string, kind: string, plain: ValueObject): string[] =>
  validationOf(apiVersion, kind, isNamespaced(apiVersion, kind))
    .create(created(apiVersion, kind, plain))
    .map(printCause)

/** What is wrong with a change of an object that exists. */
export function errorsOfChange(
  apiVersion: string,
  kind: string,
  plain: ValueObject,
  patch: ValueObject,
  subresource?: string,
): string[] {
  const old = created(apiVersion, kind, plain)
  const object = changed(apiVersion, kind, old, patch, subresource)
  const validation = validationOf(apiVersion, kind, isNamespaced(apiVersion, kind))
  const ofPart =
    subresource === undefined
      ? undefined
      : subresource === 'status'
        ? validation.status
        : validation.parts?.[subresource]
  const check = ofPart ?? validation.update
  return check(object, old).map(printCause)
}

const printCause = (error: Parameters<typeof printField>[0]): string =>
  `${printField(error)}: ${printFieldErrorBody(error)}`

function takenIn(apiVersion: string, kind: string, plain: ValueObject): ValueObject {
  const type = table.ofKind(apiVersion, kind)!
  const metadata: ValueObject = {
    name: 'x',
    ...(isNamespaced(apiVersion, kind) ? { namespace: 'default' } : {}),
    uid: 'u',
    resourceVersion: '1',
    ...(isObject(plain['metadata']) ? plain['metadata'] : {}),
  }
  return applyDefaults(apiVersion, kind, decodeTyped(type, { ...plain, metadata }).value)
}

function merge(target: Value | undefined, patch: Value): Value {
  if (!isObject(patch)) return patch
  const merged: ValueObject = isObject(target) ? { ...target } : {}
  for (const key of Object.keys(patch)) {
    if (patch[key] === null) delete merged[key]
    else merged[key] = merge(merged[key], patch[key]!)
  }
  return merged
}
