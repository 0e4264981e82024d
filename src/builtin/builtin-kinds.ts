// The built-in kinds, made from the tables of this room: a `Kind` for each resource that is stored.

import type { Kind, KindVersion, Strategy, SubresourceStrategy, Subresources } from '../kinds/kind.js'
import { compareVersions } from '../meta/group-version.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { objectAt, stringsAt } from '../meta/values/access.js'
import { printTime } from '../meta/values/time.js'
import type { ValueObject } from '../meta/values/value.js'
import { decodeTyped, TypedDecodeError } from '../types/decode.js'
import { type ResourceFacts, type TypeTable } from '../types/type-table.js'
import { groupOf, named, protobufCodec, shapeTyped, versionOf } from '../types/typed-body.js'
import { toAutoscalerV1, toAutoscalerV2 } from './autoscaler-forms.js'
import { applyDefaults } from './defaults.js'
import { toCoreEvent, toModernEvent } from './event-forms.js'
import { cellsOf } from './printer-columns.js'
import { scaleRules } from './scale-rules.js'
import { selectableFieldsOf } from './selectable-fields.js'
import { type BuiltinStrategy, strategyOf } from './strategy.js'
import type { PrepareForUpdate } from './strategy-parts.js'
import { type Validation, validationOf } from './validation/validators.js'
import { warningsFor } from './warnings.js'

/** Groups whose objects are instructions to the server itself, which rooms of their own carry out. */
const SERVED_ELSEWHERE: ReadonlySet<string> = new Set(['apiextensions.k8s.io'])

/** Where objects are kept, for the resources whose place Kubernetes does not name after them. */
const FOLDERS: Readonly<Record<string, string>> = {
  services: '/services/specs/',
  endpoints: '/services/endpoints/',
  nodes: '/minions/',
  replicationcontrollers: '/controllers/',
  ingresses: '/ingress/',
}

export const builtinKinds = (table: TypeTable): Kind[] => storedKinds(table, group => !SERVED_ELSEWHERE.has(group))

/** The kinds of one group as its types have them: what else they mean is for others to say. */
export const kindsOfGroup = (table: TypeTable, group: string): Kind[] => storedKinds(table, each => each === group)

function storedKinds(table: TypeTable, isWanted: (group: string) => boolean): Kind[] {
  const byResource = new Map<string, { apiVersion: string; resource: ResourceFacts }[]>()
  for (const apiVersion of [...table.groupVersions(), ...table.optionalVersions()]) {
    if (!isWanted(groupOf(apiVersion))) continue
    for (const resource of table.resources(apiVersion)) {
      if (!isStored(resource)) continue
      const id = `${groupOf(apiVersion)}/${resource.name}`
      byResource.set(id, [...(byResource.get(id) ?? []), { apiVersion, resource }])
    }
  }
  return [...byResource.values()].map(versions => kindOf(table, versions))
}

/** Reviews, bindings and the like are answered, not kept. */
const isStored = ({ name, verbs }: ResourceFacts): boolean =>
  !name.includes('/') && ['create', 'get', 'list'].every(verb => verbs.includes(verb))

function kindOf(table: TypeTable, served: readonly { apiVersion: string; resource: ResourceFacts }[]): Kind {
  const versions = served.toSorted((a, b) => compareVersions(versionOf(a.apiVersion), versionOf(b.apiVersion)))
  const { apiVersion, resource } = versions[0]!
  const isModernEvent = apiVersion === 'events.k8s.io/v1' && resource.kind === 'Event'
  const strategy = strategyOf(table, apiVersion, resource.kind)
  return {
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
    versions: versions.map(each => kindVersion(table, each.apiVersion, each.resource)),
    storageVersion: versionOf(apiVersion),
    storedAs: isModernEvent ? 'v1' : apiVersion,
    keyPrefix: FOLDERS[resource.name] ?? `/${resource.name}/`,
    verbs: resource.verbs,
    traits: {
      listItemsHaveTypeMeta: false,
      sortedKeys: false,
      allowUnconditionalUpdate: strategy.allowUnconditionalUpdate ?? true,
      allowCreateOnUpdate: strategy.allowCreateOnUpdate ?? false,
      lenientRouting: false,
      returnsDeletedObject: strategy.returnsDeletedObject ?? false,
      hasTerminatingPhase: strategy.hasTerminatingPhase ?? false,
      // Those that have no printer of their own.
      nullEmptyRows: table.columns(apiVersion, resource.name)?.[1]?.name === 'Created At',
      defaultPropagation: strategy.defaultPropagation,
    },
    convert: (object, to) => convert(table, object, to),
  }
}

/** Versions of one built-in kind differ in name only, but for those that have forms of their own. */
function convert(table: TypeTable, object: ApiObject, to: string): ApiObject {
  if (object.apiVersion === to) return object
  const converted = FORMS[object.kind]?.(table, object, to) ?? object
  const type = table.typeOfKind(to, object.kind)
  const renamed = { ...converted, apiVersion: to }
  return (
    type === undefined ? renamed : { ...decodeTyped(table, type, renamed).value, apiVersion: to, kind: object.kind }
  ) as ApiObject
}

const FORMS: Readonly<Record<string, (table: TypeTable, object: ApiObject, to: string) => ValueObject>> = {
  Event: (_, event, to) => (to === 'v1' ? toCoreEvent(event) : toModernEvent(event)),
  HorizontalPodAutoscaler: (table, autoscaler, to) =>
    to === 'autoscaling/v1'
      ? toAutoscalerV1(autoscaler)
      : toAutoscalerV2(autoscaler, made => fits(table, to, autoscaler.kind, made)),
}

function fits(table: TypeTable, apiVersion: string, kind: string, object: ValueObject): boolean {
  try {
    decodeTyped(table, table.typeOfKind(apiVersion, kind)!, object)
    return true
  } catch (error) {
    if (error instanceof TypedDecodeError) return false
    throw error
  }
}

function kindVersion(table: TypeTable, apiVersion: string, resource: ResourceFacts): KindVersion {
  const strategy = strategyOf(table, apiVersion, resource.kind)
  const validation = validationOf(apiVersion, resource.kind, resource.namespaced)
  const fields = selectableFieldsOf(apiVersion, resource.kind)
  return {
    name: versionOf(apiVersion),
    served: !table.optionalVersions().includes(apiVersion),
    deprecationWarning: strategy.deprecationWarning,
    strategy: rulesOf(table, apiVersion, resource, strategy, validation),
    subresources: subresourcesOf(table, apiVersion, resource, strategy, validation),
    mergeFacts: { types: table.facts(), typeName: table.typeOfKind(apiVersion, resource.kind)! },
    protobuf: protobufCodec(table, apiVersion, resource.kind),
    columns: (table.columns(apiVersion, resource.name) ?? []).map(({ name, type, format = '', priority }) => ({
      name,
      type,
      format,
      priority,
      description: COLUMN_DESCRIPTIONS[name] ?? `${name} of the ${resource.kind}, as far as the server knows it.`,
    })),
    tableRow: cellsOf(table, apiVersion, resource.name),
    rowConditions: strategy.rowConditions,
    supportField: fields.support,
    fields: fields.values,
  }
}

const COLUMN_DESCRIPTIONS: Readonly<Record<string, string>> = {
  Name: 'The name of the object, which no other of its kind has in the same namespace.',
  Age: 'How long ago the object was created.',
  // Of this one the reference server says nothing.
  Handler: '',
}

function rulesOf(
  table: TypeTable,
  apiVersion: string,
  { kind }: ResourceFacts,
  strategy: BuiltinStrategy,
  validation: Validation,
): Strategy {
  const isNamespace = apiVersion === 'v1' && kind === 'Namespace'
  return {
    decode: (body, duplicates, cbor) => shapeTyped(table, apiVersion, kind, body, duplicates, cbor),
    applyDefaults: object => named(applyDefaults(table, apiVersion, kind, object), apiVersion, kind),
    prepareForCreate(object, now) {
      strategy.prepareForCreate?.(object, { now: printTime(now) })
      strategy.finish?.(object)
      return object
    },
    prepareForUpdate(object, old, now) {
      strategy.prepareForUpdate?.(object, old, { now: printTime(now) })
      strategy.finish?.(object)
      return object
    },
    validate: validation.create,
    validateUpdate: validation.update,
    gracePeriod: strategy.gracePeriod,
    blocksDeletion: object =>
      Boolean(metaOf(object).finalizers?.length || metaOf(object).deletionGracePeriodSeconds) ||
      (isNamespace && stringsAt(objectAt(object, 'spec'), 'finalizers').length > 0),
    prepareForDelete: object => (isNamespace ? terminating(object) : object),
    warnings: (object, old) => warningsFor(apiVersion, kind, object, old),
  }
}

/** A namespace has no grace period; its phase tells that it is on its way out. */
function terminating(namespace: ApiObject): ApiObject {
  const { deletionGracePeriodSeconds: _, ...metadata } = namespace.metadata
  return { ...namespace, metadata, status: { ...objectAt(namespace, 'status'), phase: 'Terminating' } }
}

function subresourcesOf(
  table: TypeTable,
  apiVersion: string,
  resource: ResourceFacts,
  strategy: BuiltinStrategy,
  validation: Validation,
): Subresources {
  const facts = (part: string): ResourceFacts | undefined =>
    table.resources(apiVersion).find(({ name }) => name === `${resource.name}/${part}`)
  const rules = (
    part: string,
    prepareForUpdate: PrepareForUpdate | undefined,
    validateUpdate: SubresourceStrategy['validateUpdate'],
  ): SubresourceStrategy => ({
    verbs: facts(part)?.verbs,
    prepareForUpdate(object, old, now) {
      prepareForUpdate?.(object, old, { now: printTime(now) })
      return object
    },
    validateUpdate,
  })
  const { prepareForStatusUpdate, prepareForSubresourceUpdate = {} } = strategy
  return {
    status: facts('status') && rules('status', prepareForStatusUpdate, validation.status ?? validation.update),
    scale: facts('scale') && scaleRules,
    parts: Object.fromEntries(
      Object.entries(prepareForSubresourceUpdate).map(([part, prepareForUpdate]) => [
        part,
        rules(part, prepareForUpdate, validation.parts?.[part] ?? validation.update),
      ]),
    ),
  }
}
