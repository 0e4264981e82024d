// What the kinds that keep pods running share: defaults of the template, a selector that must match the template, pods
// that restart always, replica counts, and the cells that describe them.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { checkPercent } from '../../meta/object/names.js'
import {
  checkLabelSelector,
  matchesLabels,
  printLabelSelector,
  selectorOf,
} from '../../meta/selectors/label-selectors.js'
import {
  ensureObject,
  has,
  mapAt,
  numberAt,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
} from '../../meta/values/access.js'
import { asGiven, fieldsGivenEmpty, markGivenEmpty } from '../../meta/values/given-empty.js'
import { type Value, type ValueObject } from '../../meta/values/value.js'
import { checkNotNegative, checkTypedText } from '../common/field-checks.js'
import { asSelector } from '../common/go-struct.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, field, immutable, notNegative, type Rule } from '../common/rules.js'
import { ageOf, NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { type Validation, validationRules } from '../common/validation.js'
import { defaultPodTemplate } from '../core/pod/defaults.js'
import { checkPodTemplate } from '../core/pod/spec/pod-spec.js'

// ---- defaults

/** The spec, after its template got its defaults. */
export function specWithTemplate(object: ValueObject): ValueObject {
  const spec = ensureObject(object, 'spec')
  defaultPodTemplate(ensureObject(spec, 'template'))
  return spec
}

/** A rolling update with these settings, unless the strategy names another type. */
export function defaultRollingUpdate(spec: ValueObject, strategyField: string, settings: ValueObject): void {
  const strategy = ensureObject(spec, strategyField)
  setDefault(strategy, 'type', 'RollingUpdate')
  if (stringAt(strategy, 'type') !== 'RollingUpdate') return
  const rolling = ensureObject(strategy, 'rollingUpdate')
  for (const name of Object.keys(settings)) setDefault(rolling, name, settings[name]!, false)
}

export const templateLabels = (spec: ValueObject): ValueObject =>
  objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels')

/** An object without labels gets those of its template, and remembers that it had none. */
export function labelByTemplate(object: ValueObject): void {
  const labels = templateLabels(objectAt(object, 'spec'))
  const meta = ensureObject(object, 'metadata')
  if (Object.keys(labels).length > 0 && Object.keys(objectAt(meta, 'labels')).length === 0) {
    meta['labels'] = { ...labels }
    markGivenEmpty(meta, { ...fieldsGivenEmpty(meta), labels: {} })
  }
}

// ---- validation

export interface PodOwnerRules {
  readonly metadata?: Partial<Parameters<typeof metadata>[0]>
  readonly spec: readonly Rule[]
  readonly status: readonly Rule[]
  /** Rules for the spec that hold only in an update, after the others. */
  readonly specUpdate?: readonly Rule[]
}

/** The pods were created for one selector, and another would not find them: it cannot change. */
export const immutableSelector = immutable('selector', { selector: true })

/** Rules for a kind that owns pods. Each list is about the spec or the status. */
export const podOwner = ({
  metadata: own,
  spec,
  status,
  specUpdate = [immutableSelector],
}: PodOwnerRules): Validation =>
  validationRules({
    create: [metadata({ namespaced: true, ...own }), field('spec', spec)],
    update: [metadataUpdate, field('spec', [...spec, ...specUpdate])],
    status: [metadataUpdate, field('status', status)],
  })

export interface SelectorOptions {
  /** What is said of a selector that cannot be used. */
  readonly unusable?: string
  /** The kind as the message about an empty selector names it. */
  readonly owner: string
  /** The kind as the messages about the template name it. */
  readonly podOwner: string
  readonly required?: boolean
  /** The spec with the template that is checked in place of the given one. */
  readonly withTemplate?: (spec: ValueObject) => ValueObject
}

/** The selector, and the template by the selector. */
export const selectorAndTemplate = ({
  owner,
  podOwner: podOwnerKind,
  required = true,
  unusable = 'invalid label selector',
  withTemplate = spec => spec,
}: SelectorOptions): Rule =>
  check((spec, _, old) => {
    const oldTemplate = old && objectAt(old, 'template')
    const object = objectOrNone(spec, 'selector')
    const path = 'spec.selector'
    const errors: FieldError[] = []
    if (object !== undefined) {
      errors.push(...checkLabelSelector(object, path))
      if (!has(object, 'matchLabels') && !has(object, 'matchExpressions')) {
        errors.push(fieldInvalid(path, asSelector(object), `empty selector is invalid for ${owner}`))
      }
    } else if (required) errors.push(fieldRequired(path))
    const selector = selectorOf(object)
    // For a daemon set the errors of the selector are enough.
    if (!selector.ok && !required)
      return [...errors, ...checkLastingPods(objectAt(spec, 'template'), podOwnerKind, oldTemplate)]
    if (!selector.ok) return [...errors, fieldInvalid(path, asSelector(object), unusable)]
    const template = objectAt(withTemplate(spec), 'template')
    return [
      ...errors,
      ...checkTemplateLabels(template, labels => matchesLabels(selector.value, labels)),
      ...checkLastingPods(template, podOwnerKind, oldTemplate),
    ]
  })

export function checkTemplateLabels(
  template: ValueObject,
  matches: (labels: Readonly<Record<string, string>>) => boolean,
): FieldError[] {
  const meta = objectAt(template, 'metadata')
  if (matches(mapAt(meta, 'labels'))) return []
  const labels: Value = asGiven(meta, 'labels')
  return [fieldInvalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]
}

/** A template of pods that run until they are deleted. */
export function checkLastingPods(template: ValueObject, podOwnerKind: string, old?: ValueObject): FieldError[] {
  const path = 'spec.template'
  const spec = objectAt(template, 'spec')
  const errors = checkPodTemplate(template, path, old)
  const restart = stringAt(spec, 'restartPolicy')
  if (restart !== 'Always') errors.push(fieldNotSupported(`${path}.spec.restartPolicy`, restart, ['Always']))
  if (has(spec, 'activeDeadlineSeconds')) {
    const why = `activeDeadlineSeconds in ${podOwnerKind} is not Supported`
    errors.push(fieldForbidden(`${path}.spec.activeDeadlineSeconds`, why))
  }
  return errors
}

// ---- counts

export const checkCounts = (object: ValueObject, fields: readonly string[], path: string): FieldError[] =>
  fields.flatMap(name => checkNotNegative(numberAt(object, name), childPath(path, name)))

/** Replica counts of a status: none is negative, and none of `counts` is above the number of replicas. */
export const statusCounts = (
  counts: readonly string[],
  otherFields: readonly string[],
  { ready = 'readyReplicas' } = {},
): Rule => {
  const negative = notNegative('replicas', ...counts, ...otherFields)
  const tooMany = check((status, path) => {
    const notAbove = (name: string, max: string, maxName: string): FieldError[] => {
      const value = numberAt(status, name)
      if (value <= numberAt(status, max)) return []
      return [fieldInvalid(childPath(path, name), value, `cannot be greater than ${maxName}`)]
    }
    return [
      ...counts.flatMap(name => notAbove(name, 'replicas', 'status.replicas')),
      ...notAbove('availableReplicas', 'readyReplicas', ready),
    ]
  })
  return (status, old, path, errors) => {
    negative(status, old, path, errors)
    tooMany(status, old, path, errors)
  }
}

/** The number of hash collisions of a status only grows. */
export const growingCollisionCount = checkUpdate((status, old, path) => {
  const count = numberAt(status, 'collisionCount')
  const isLess = !has(status, 'collisionCount') || count < numberAt(old, 'collisionCount')
  return has(old, 'collisionCount') && isLess
    ? [fieldInvalid(childPath(path, 'collisionCount'), count, 'cannot be decremented')]
    : []
})

/** A number or a percentage. */
export const checkCount = (count: Value, path: string): FieldError[] =>
  typeof count === 'string' ? checkTypedText(count, checkPercent, path) : checkNotNegative(Number(count), path)

/** The number, or that of the percentage; 0 for a string that is no percentage. */
export function countOrPercent(count: Value): number {
  if (typeof count !== 'string') return Number(count)
  return checkPercent(count).length === 0 ? Number(count.slice(0, -1)) : 0
}

export const checkAtMaxAll = (count: Value, path: string): FieldError[] =>
  typeof count === 'string' && countOrPercent(count) > 100
    ? [fieldInvalid(path, count, 'must not be greater than 100%')]
    : []

// ---- Table cells

/** The names and the images of the containers of a template, each joined to one cell. */
export function containerCells(spec: ValueObject): [string, string] {
  const containers = objectsAt(objectAt(objectAt(spec, 'template'), 'spec'), 'containers')
  const joined = (name: string): string => containers.map(container => stringAt(container, name)).join(',')
  return [joined('name'), joined('image')]
}

export function selectorCell(spec: ValueObject, name = 'selector'): string {
  const selector = selectorOf(objectOrNone(spec, name))
  return (selector.ok && printLabelSelector(selector.value)) || NONE
}

export const readyCell = (spec: ValueObject, status: ValueObject): string =>
  `${numberAt(status, 'readyReplicas')}/${numberAt(spec, 'replicas')}`

/** Desired, current and ready replicas. */
export const replicaRow =
  (selector: (spec: ValueObject) => string): TableRow =>
  (object, now) => {
    const spec = objectAt(object, 'spec')
    const status = objectAt(object, 'status')
    return [
      nameOf(object),
      numberAt(spec, 'replicas'),
      numberAt(status, 'replicas'),
      numberAt(status, 'readyReplicas'),
      ageOf(object, now),
      ...containerCells(spec),
      selector(spec),
    ]
  }
