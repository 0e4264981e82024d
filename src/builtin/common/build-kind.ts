// A `Kind` from a resource of the type table and from the definitions of its versions.

import { atOnce } from '../../base/turns.js'
import type { Kind, KindVersion, Strategy, SubresourceStrategy, Subresources } from '../../kinds/kind.js'
import { limitErrors } from '../../meta/errors/error-limit.js'
import { compareVersions } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { printTime } from '../../meta/values/time.js'
import type { ValueObject } from '../../meta/values/value.js'
import { decodeAgain, decodeTyped } from '../../types/decode.js'
import { applyTableDefaults, hasTableDefaults } from '../../types/defaults.js'
import type { APIResource, TypeTable } from '../../types/type-table.js'
import { groupOf, named, shapeTyped, versionOf } from '../../types/typed-body.js'
import type { KindDefinition } from './define-kind.js'
import { scaleRules } from './scale.js'
import { NO_OWN_FIELDS } from './selectable-fields.js'
import {
  type BuiltinStrategy,
  clearStatus,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type PrepareForUpdate,
} from './strategies.js'
import { ageOf, createdOf, nameOf, type TableRow } from './table-cells.js'
import { type CheckAt, metadataOnly, type Validation } from './validation.js'

/** One version of a resource, as the type table has it. */
export interface ResourceVersion {
  readonly apiVersion: string
  readonly resource: APIResource
}

export type FindDefinition = (apiVersion: string, kind: string) => KindDefinition

export function buildKind(
  table: TypeTable,
  resourceVersions: readonly ResourceVersion[],
  definitionOf: FindDefinition,
): Kind {
  const versions = resourceVersions.toSorted((a, b) =>
    compareVersions(versionOf(a.apiVersion), versionOf(b.apiVersion)),
  )
  const { apiVersion, resource } = versions[0]!
  const definition = definitionOf(apiVersion, resource.kind)
  const strategy = strategyOf(table, definition)
  const { storedAs = apiVersion } = definition
  return {
    origin: 'builtin',
    group: groupOf(apiVersion),
    names: {
      plural: resource.name,
      singular: resource.singularName ?? resource.kind.toLowerCase(),
      kind: resource.kind,
      listKind: `${resource.kind}List`,
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
    },
    namespaced: resource.namespaced,
    versions: versions.map(each => buildVersion(table, each.resource, definitionOf(each.apiVersion, resource.kind))),
    storageVersion: versionOf(groupOf(storedAs) === groupOf(apiVersion) ? storedAs : apiVersion),
    storedAs,
    alsoServedAs: definition.alsoServedAs,
    keyPrefix: definition.keyPrefix ?? `/${resource.name}/`,
    verbs: resource.verbs,
    traits: {
      listItemsHaveTypeMeta: false,
      sortedKeys: false,
      allowUnconditionalUpdate: strategy.allowUnconditionalUpdate ?? true,
      allowCreateOnUpdate: strategy.allowCreateOnUpdate ?? false,
      appliedStatusCreates: strategy.appliedStatusCreates,
      lenientRouting: false,
      strategicMerge: true,
      returnsDeletedObject: strategy.returnsDeletedObject ?? false,
      subresourcesWithoutTable: strategy.subresourcesWithoutTable,
      pagedByField: strategy.pagedByField,
      hasTerminatingPhase: strategy.hasTerminatingPhase ?? false,
      // Kinds without a printer of their own have this column.
      nullEmptyRows: table.columns(apiVersion, resource.name)?.[1]?.name === 'Created At',
      defaultPropagation: strategy.defaultPropagation,
      ignoresPropagation: strategy.ignoresPropagation,
    },
    convert: (object, to) => convert(table, object, to, definitionOf),
  }
}

/** Most versions of one kind differ in their name only; the others have a `convert`. */
function convert(table: TypeTable, object: ApiObject, to: string, definitionOf: FindDefinition): ApiObject {
  const { apiVersion, kind } = object
  if (apiVersion === to) return object
  const converted = definitionOf(apiVersion, kind).convert?.(object, to, table) ?? object
  const type = table.ofKind(to, kind)
  const renamed = { ...converted, apiVersion: to }
  return (type === undefined ? renamed : { ...decodeTyped(type, renamed).value, apiVersion: to, kind }) as ApiObject
}

function buildVersion(table: TypeTable, resource: APIResource, definition: KindDefinition): KindVersion {
  const { apiVersion, kind, selectableFields: fields = NO_OWN_FIELDS } = definition
  const strategy = strategyOf(table, definition)
  const validation = validationOf(definition, resource.namespaced)
  return {
    name: versionOf(apiVersion),
    served: !table.optionalVersions().includes(apiVersion),
    deprecationWarning: strategy.deprecationWarning,
    strategy: buildStrategy(table, definition, strategy, validation),
    subresources: buildSubresources(table, resource, definition, strategy, validation),
    type: table.ofKind(apiVersion, kind)!,
    columns: (table.columns(apiVersion, resource.name) ?? []).map(({ name, type, format = '', priority }) => ({
      name,
      type,
      format,
      priority,
      description: COLUMN_DESCRIPTIONS[name] ?? `${name} of the ${kind}, as far as the server knows it.`,
    })),
    tableRow: tableRowOf(table, definition, resource.name),
    rowConditions: strategy.rowConditions,
    supportField: fields.support,
    fields: fields.values,
  }
}

const COLUMN_DESCRIPTIONS: Readonly<Record<string, string>> = {
  Name: 'The name of the object, which no other of its kind has in the same namespace.',
  Age: 'How long ago the object was created.',
  // kube-apiserver leaves this description empty.
  Handler: '',
}

function buildStrategy(
  table: TypeTable,
  definition: KindDefinition,
  strategy: BuiltinStrategy,
  validation: Validation,
): Strategy {
  const { apiVersion, kind, warnings } = definition
  return {
    decode: (body, duplicates, cbor) => shapeTyped(table, apiVersion, kind, body, duplicates, cbor),
    applyDefaults: (object, isDecoded = false, now) =>
      isDecoded && !hasDefaults(table, definition)
        ? object
        : named(applyDefaults(table, definition, object, now), apiVersion, kind),
    *applyDefaultsInSteps(object, isDecoded, now) {
      if (isDecoded && !hasDefaults(table, definition)) return object
      return named(yield* applyDefaultsInSteps(table, definition, object, now), apiVersion, kind)
    },
    prepareForCreate(object, now, { warn, subresource } = {}) {
      strategy.prepareForCreate?.(object, { now: printTime(now), subresource, ...(warn && { warn }) })
      strategy.finish?.(object)
      return object
    },
    prepareForUpdate(object, old, now) {
      strategy.prepareForUpdate?.(object, old, { now: printTime(now) })
      strategy.finish?.(object)
      return object
    },
    validate: object => limitErrors(() => validation.create(object)),
    validateUpdate: limited(validation.update),
    gracePeriod: strategy.gracePeriod,
    blocksDeletion: object =>
      Boolean(metaOf(object).finalizers?.length || metaOf(object).deletionGracePeriodSeconds) ||
      (strategy.blocksDeletion?.(object) ?? false),
    isBlockedByFinalizersOnly: !strategy.blocksDeletion && !strategy.gracePeriod,
    prepareForDelete: object => strategy.prepareForDelete?.(object) ?? object,
    warnings: (object, old) => warnings?.(object, old) ?? [],
  }
}

const limited =
  (check: CheckAt): SubresourceStrategy['validateUpdate'] =>
  (object, old, _warnings, now) =>
    limitErrors(() => check(object, old, now))

function buildSubresources(
  table: TypeTable,
  resource: APIResource,
  { apiVersion, statusReset, statusWarnings, statusIsOwnedWithObject }: KindDefinition,
  strategy: BuiltinStrategy,
  validation: Validation,
): Subresources {
  const facts = (subresource: string): APIResource | undefined =>
    table.resources(apiVersion).find(({ name }) => name === `${resource.name}/${subresource}`)
  const subresourceStrategy = (
    subresource: string,
    prepareForUpdate: PrepareForUpdate | undefined,
    check: CheckAt,
  ): SubresourceStrategy => ({
    verbs: facts(subresource)?.verbs,
    prepareForUpdate(object, old, now) {
      prepareForUpdate?.(object, old, { now: printTime(now) })
      return object
    },
    validateUpdate: limited(check),
  })
  const { prepareForStatusUpdate, prepareForSubresourceUpdate = {} } = strategy
  return {
    status: facts('status') && {
      ...subresourceStrategy(
        'status',
        prepareForStatusUpdate,
        validation.statusAt ?? validation.status ?? validation.update,
      ),
      warnings: statusWarnings,
      resetFields: ['spec', ...(statusReset ?? [])],
    },
    statusIsOwnedWithObject,
    scale: facts('scale') && scaleRules,
    parts: Object.fromEntries(
      Object.entries(prepareForSubresourceUpdate).map(([subresource, prepareForUpdate]) => [
        subresource,
        subresourceStrategy(subresource, prepareForUpdate, validation.parts?.[subresource] ?? validation.update),
      ]),
    ),
  }
}

// ---- the parts of a definition, or their replacement where a part is left out

/** Without any, a decoded object is complete, and its fields are in order. */
function hasDefaults(table: TypeTable, { apiVersion, kind, defaults }: KindDefinition): boolean {
  const type = table.ofKind(apiVersion, kind)
  return defaults !== undefined || type === undefined || hasTableDefaults(type)
}

/** The object with its defaults. The object that was given may have been changed. */
export const applyDefaults = (
  table: TypeTable,
  definition: KindDefinition,
  object: ValueObject,
  now = Date.now(),
): ValueObject => atOnce(applyDefaultsInSteps(table, definition, object, now))

function* applyDefaultsInSteps(
  table: TypeTable,
  { apiVersion, kind, defaults }: KindDefinition,
  object: ValueObject,
  now: number,
): Generator<unknown, ValueObject> {
  const type = table.ofKind(apiVersion, kind)
  if (type === undefined) return object
  applyTableDefaults(type, object)
  yield
  defaults?.(object, now)
  yield
  // Puts the added fields into the order of the type.
  return yield* decodeAgain(type, object)
}

export function strategyOf(table: TypeTable, { apiVersion, kind, strategy }: KindDefinition): BuiltinStrategy {
  if (typeof strategy === 'function') return strategy(table)
  return strategy ?? statusApart(apiVersion, kind)(table)
}

/** A status, if the kind has one with an endpoint of its own, is written only there. `own` is added to that. */
export const statusApart =
  (apiVersion: string, kind: string, own: Partial<BuiltinStrategy> = {}) =>
  (table: TypeTable): BuiltinStrategy => {
    const type = table.ofKind(apiVersion, kind)
    const status = type?.fields.get('status')?.type
    const hasSpec = type !== undefined && type.fields.has('spec')
    const resource = table.resources(apiVersion).find(({ kind: of, name }) => of === kind && !name.includes('/'))
    const hasEndpoint = table.resources(apiVersion).some(({ name }) => name === `${resource?.name}/status`)
    if (status === undefined || status.kind !== 'object' || !hasEndpoint)
      return { prepareForUpdate: keepGeneration, ...own }
    return {
      prepareForCreate: clearStatus(table, status.name),
      prepareForUpdate: inTurn(keepGeneration, keepStatus),
      prepareForStatusUpdate: hasSpec ? inTurn(keepGeneration, keepSpec) : keepGeneration,
      ...own,
    }
  }

export const validationOf = ({ validation }: KindDefinition, namespaced: boolean): Validation =>
  validation ?? metadataOnly(namespaced)

export function tableRowOf(table: TypeTable, { apiVersion, table: row }: KindDefinition, plural: string): TableRow {
  if (row !== undefined) return row
  const columns = table.columns(apiVersion, plural) ?? []
  return (object, now) =>
    columns.map(({ name }) => {
      if (name === 'Name') return nameOf(object)
      if (name === 'Age') return ageOf(object, now)
      return name === 'Created At' ? createdOf(object) : ''
    })
}
