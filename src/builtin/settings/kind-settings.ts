// What the flags of a server change in its built-in kinds: fields of features that are off, and privileged containers.
import type { Kind, KindVersion, Strategy, SubresourceStrategy } from '../../kinds/kind.js'
import { type FieldError, fieldForbidden, fieldNotSupported } from '../../meta/errors/field-errors.js'
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { objectAt, objectsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { KindDefinition } from '../common/define-kind.js'
import { STRICT_IPS } from '../common/ip-rules.js'
import { SELECTOR_MERGE, selectedSpreadKeys } from '../core/pod/spec/scheduling.js'
import { type DropFields, dropFieldsAt } from './drop-fields.js'
import { OF_KINDS, OF_POD_SPECS, POD_SPEC_AT } from './gated-fields.js'

export interface KindSettings {
  readonly featureGates?: FeatureGates
  /** Whether containers may be privileged. */
  readonly allowPrivileged?: boolean
}

/** A definition with the parts that gates change. */
export function withChangedParts(definition: KindDefinition, gates: FeatureGates): KindDefinition {
  const changes = Object.entries(definition.changedBy ?? {}).filter(([names]) =>
    names.split(' ').every(gate => isChanged(gates, gate)),
  )
  return Object.assign({}, definition, ...changes.map(([, parts]) => parts)) as KindDefinition
}

export const isChanged = (gates: FeatureGates, gate: string): boolean => isGateOn(gates, gate) !== isGateOn({}, gate)

/** The gates that drop fields while they are off. */
export const fieldGates = (): ReadonlySet<string> =>
  new Set([OF_POD_SPECS, ...Object.values(OF_KINDS).flat()].flatMap(fields => Object.keys(fields)))

export function withSettings(kind: Kind, { featureGates = {}, allowPrivileged = true }: KindSettings): Kind {
  const id = `${kind.group} ${kind.names.kind}`
  const podSpecAt = POD_SPEC_AT[id]
  const drops = dropsOf(id, podSpecAt, featureGates)
  const refused = podSpecAt === undefined ? [] : refusedInPods(podSpecAt, featureGates, allowPrivileged)
  const changed = new Set([...ERROR_GATES].filter(gate => isChanged(featureGates, gate)))
  const tolerant = changed.size === 0 ? kind : withoutErrorsOf(kind, changed)
  if (drops.length === 0 && refused.length === 0) return tolerant
  return {
    ...tolerant,
    versions: tolerant.versions.map(version => versionWith(version, drops, refused, COUNTED_FIRST.has(id))),
  }
}

/** Gates without whose default some errors are none, see `FieldError.gate`. */
export const ERROR_GATES: ReadonlySet<string> = new Set([
  STRICT_IPS,
  'ClearingNominatedNodeNameAfterBinding',
  'PodDeletionCost',
  'SELinuxMount',
  SELECTOR_MERGE,
])

/** The kind without the errors that are none while these gates are changed. */
function withoutErrorsOf(kind: Kind, gates: ReadonlySet<string>): Kind {
  const remaining = (errors: readonly FieldError[]): readonly FieldError[] =>
    errors.filter(({ gate }) => gate === undefined || !gates.has(gate))
  const tolerant = <S extends Pick<Strategy, 'validateUpdate'>>(strategy: S): S => ({
    ...strategy,
    validateUpdate: (...args) => remaining(strategy.validateUpdate(...args)),
  })
  return {
    ...kind,
    versions: kind.versions.map(version => {
      const { strategy, subresources } = version
      const { status, parts } = subresources
      return {
        ...version,
        strategy: {
          ...tolerant(strategy),
          validate: (object, warnings) => remaining(strategy.validate(object, warnings)),
        },
        subresources: {
          ...subresources,
          status: status && tolerant(status),
          parts: parts && Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, tolerant(part)])),
        },
      }
    }),
  }
}

function dropsOf(id: string, podSpecAt: string | undefined, gates: FeatureGates): DropFields[] {
  const ofPods = podSpecAt === undefined ? [] : [withPrefix(podSpecAt)]
  return [...ofPods, ...(OF_KINDS[id] ?? [])].flatMap(fields =>
    Object.entries(fields).flatMap(([gate, paths]) => (isGateOn(gates, gate) ? [] : dropFieldsAt(paths))),
  )
}

const withPrefix = (prefix: string): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(OF_POD_SPECS).map(([gate, paths]) => [gate, paths.map(path => `${prefix}.${path}`)]),
  )

/** Kinds of which a change of a field that is then dropped is a new generation. */
const COUNTED_FIRST: ReadonlySet<string> = new Set(['resource.k8s.io ResourceSlice'])

type FindErrors = (object: ValueObject, old?: ValueObject) => FieldError[]

function versionWith(
  version: KindVersion,
  drops: readonly DropFields[],
  refused: readonly FindErrors[],
  isCountedFirst: boolean,
): KindVersion {
  const drop = (object: ApiObject, old: ApiObject | undefined): void => {
    for (const each of drops) each(object, old)
  }
  const { strategy, subresources } = version
  const withRefused = (errors: readonly FieldError[], object: ApiObject, old?: ApiObject): readonly FieldError[] =>
    refused.length === 0 ? errors : [...errors, ...refused.flatMap(find => find(object, old))]
  const changed: Strategy = {
    ...strategy,
    prepareForCreate(object, now, warn) {
      drop(object, undefined)
      return strategy.prepareForCreate(object, now, warn)
    },
    prepareForUpdate(object, old, now) {
      if (!isCountedFirst) drop(object, old)
      const prepared = strategy.prepareForUpdate(object, old, now)
      if (isCountedFirst) drop(prepared, old)
      return prepared
    },
    validate: (object, warnings) => withRefused(strategy.validate(object, warnings), object),
    validateUpdate: (object, old, ...rest) => withRefused(strategy.validateUpdate(object, old, ...rest), object, old),
  }
  const { status } = subresources
  return {
    ...version,
    strategy: changed,
    subresources: { ...subresources, status: status && { ...status, ...dropping(status, drop) } },
  }
}

const dropping = (
  strategy: SubresourceStrategy,
  drop: (object: ApiObject, old: ApiObject) => void,
): Pick<SubresourceStrategy, 'prepareForUpdate'> => ({
  prepareForUpdate(object, old, now) {
    drop(object, old)
    return strategy.prepareForUpdate(object, old, now)
  },
})

const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers']

/** What flags refuse in pods, beside what validation does. */
function refusedInPods(podSpecAt: string, gates: FeatureGates, allowPrivileged: boolean): FindErrors[] {
  return [
    ...(allowPrivileged ? [] : [privilegedContainers(podSpecAt)]),
    ...(isGateOn(gates, RESTART_ALL) ? [] : [restartsOfAll(podSpecAt)]),
    ...(isGateOn(gates, SELECTOR_MERGE) ? [] : [keysSelectedTwice(podSpecAt)]),
  ]
}

const RESTART_ALL = 'RestartAllContainersOnContainerExits'

/** While its gate is off no container may restart all others, and sidecars have no rules for restarts. */
function restartsOfAll(podSpecAt: string): FindErrors {
  const path = podSpecAt.split('.')
  return object => {
    const spec = path.reduce(objectAt, object)
    return CONTAINERS.flatMap(list =>
      objectsAt(spec, list).flatMap((container, i) => {
        const at = `${podSpecAt}.${list}[${i}].restartPolicyRules`
        const rules = objectsAt(container, 'restartPolicyRules')
        if (list === 'initContainers' && container['restartPolicy'] === 'Always') {
          const why = 'restartPolicyRules are not allowed for init containers with restart policy Always'
          return rules.length > 0 ? [fieldForbidden(at, why)] : []
        }
        return rules.flatMap(({ action }, n) =>
          action === 'RestartAllContainers' ? [fieldNotSupported(`${at}[${n}].action`, action, ['Restart'])] : [],
        )
      }),
    )
  }
}

/** An object that was stored while keys were merged stays valid. */
function keysSelectedTwice(podSpecAt: string): FindErrors {
  const find = (object: ValueObject): FieldError[] =>
    selectedSpreadKeys(podSpecAt.split('.').reduce(objectAt, object), podSpecAt)
  return (object, old) => (old !== undefined && find(old).length > 0 ? [] : find(object))
}

/** Without --allow-privileged no container may be privileged. */
function privilegedContainers(podSpecAt: string): FindErrors {
  const path = podSpecAt.split('.')
  return object => {
    const spec = path.reduce(objectAt, object)
    return CONTAINERS.flatMap(list =>
      objectsAt(spec, list).flatMap((container, i) =>
        objectAt(container, 'securityContext')['privileged'] === true
          ? [fieldForbidden(`${podSpecAt}.${list}[${i}].securityContext.privileged`, 'disallowed by cluster policy')]
          : [],
      ),
    )
  }
}
