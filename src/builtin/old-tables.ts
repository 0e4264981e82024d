// Definitions of the kinds that have no file of their own yet, put together from tables by behaviour. A kind that gets
// its file leaves these tables, and a table that is empty is deleted.
import { builtinTypes } from '../types/type-table.js'
import { defineKind, type KindDefinition, type KindParts } from './common/define-kind.js'
import { DEFAULTS } from './defaults.js'
import { toCoreEvent } from './event-forms.js'
import { CELLS } from './printer-columns.js'
import { FIELDS } from './selectable-fields.js'
import { STRATEGIES } from './strategy.js'
import { VALIDATIONS } from './validation/validators.js'

export function fromOldTables(apiVersion: string, kind: string): KindDefinition | undefined {
  const id = `${apiVersion} ${kind}`
  const parts = {
    defaults: DEFAULTS[id],
    strategy: STRATEGIES[id],
    statusReset: STATUS_RESET[id],
    validation: VALIDATIONS[id],
    table: CELLS[`${apiVersion} ${pluralOf(apiVersion, kind)}`],
    selectableFields: FIELDS[id],
    storedAs: id === 'events.k8s.io/v1 Event' ? 'v1' : undefined,
    convert: CONVERSIONS[kind],
  }
  const given = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined))
  return defineKind(apiVersion, kind, given)
}

const pluralOf = (apiVersion: string, kind: string): string =>
  builtinTypes()
    .resources(apiVersion)
    .find(({ kind: of, name }) => of === kind && !name.includes('/'))?.name ?? ''

const STATUS_RESET: Readonly<Record<string, readonly string[] | undefined>> = {
  'storage.k8s.io/v1 VolumeAttachment': ['metadata'],
}

const CONVERSIONS: Readonly<Record<string, KindParts['convert']>> = {
  Event: event => toCoreEvent(event),
}
