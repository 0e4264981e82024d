// Annotations of pods and of templates that have a meaning: they are checked, must agree with the fields that have taken
// their place, and those for AppArmor set these fields.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  keyPath,
} from '../../../../meta/errors/field-errors.js'
import { quote } from '../../../../meta/go/go-text.js'
import { ensureObject, has, mapAt, objectAt, stringAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { sameValue } from '../../../common/field-checks.js'
import { decodeAnnotatedList, TOLERATION } from '../../annotation-json.js'
import { checkRelativePath } from '../../volume-sources.js'
import { allContainers } from '../containers/all-containers.js'
import { checkTolerations } from './scheduling.js'

type Annotations = Readonly<Record<string, string>>

export const MIRROR = 'kubernetes.io/config.mirror'
export const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/'
export const POD_SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod'
export const CONTAINER_SECCOMP = 'container.seccomp.security.alpha.kubernetes.io/'
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations'
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'

const annotationsOf = (holder: ValueObject): Annotations => mapAt(objectAt(holder, 'metadata'), 'annotations')

/** The annotations by themselves. `holder` is a pod or a template; `path` is that of its annotations. */
export function checkPodAnnotations(holder: ValueObject, old: ValueObject | undefined, path: string): FieldError[] {
  const annotations = annotationsOf(holder)
  return [
    ...checkMirror(annotations, objectAt(holder, 'spec'), path),
    ...checkAnnotatedTolerations(annotations, path),
    ...checkDeletionCost(annotations, old && annotationsOf(old), path),
    ...checkSeccomp(annotations, path),
    ...checkAppArmor(annotations, objectAt(holder, 'spec'), path),
  ]
}

/** Annotations that nodes act on are neither added, removed nor changed. */
export function checkFixedAnnotations(pod: ValueObject, old: ValueObject): FieldError[] {
  const [now, before] = [annotationsOf(pod), annotationsOf(old)]
  const changed = Object.keys(before).filter(key => now[key] !== before[key])
  const added = Object.keys(now).filter(key => !Object.hasOwn(before, key))
  const forbidden = (keys: readonly string[], verb: string): FieldError[] =>
    keys.flatMap(key => {
      const at = keyPath('metadata.annotations', key)
      if (key.startsWith(APP_ARMOR)) return [fieldForbidden(at, `may not ${verb} AppArmor annotations`)]
      return key === MIRROR ? [fieldForbidden(at, `may not ${verb} mirror pod annotation`)] : []
    })
  return [
    ...forbidden(changed, 'remove or update'),
    ...forbidden(added, 'add'),
    ...checkPodAnnotations(pod, old, 'metadata.annotations'),
  ]
}

/** Annotations beside fields that say the same. */
export function checkAnnotatedFields(holder: ValueObject, path: string): FieldError[] {
  const annotations = annotationsOf(holder)
  const spec = objectAt(holder, 'spec')
  return [...checkSeccompFields(annotations, spec, path), ...checkAppArmorFields(annotations, spec, path)]
}

/** A static pod is one of a node from the beginning. */
function checkMirror(annotations: Annotations, spec: ValueObject, path: string): FieldError[] {
  const mirror = annotations[MIRROR]
  if (mirror === undefined || stringAt(spec, 'nodeName') !== '') return []
  return [fieldInvalid(keyPath(path, MIRROR), mirror, 'must set spec.nodeName if mirror pod annotation is set')]
}

function checkAnnotatedTolerations(annotations: Annotations, path: string): FieldError[] {
  const text = annotations[TOLERATIONS] ?? ''
  if (text === '') return []
  const tolerations = decodeAnnotatedList(text, TOLERATION)
  return typeof tolerations === 'string'
    ? [fieldInvalid(path, TOLERATIONS, tolerations)]
    : checkTolerations({ tolerations }, childPath(path, TOLERATIONS))
}

/** By this annotation controllers choose the pods that they delete. An old value that is no number may stay. */
function checkDeletionCost(annotations: Annotations, old: Annotations | undefined, path: string): FieldError[] {
  const [cost, before] = [annotations[DELETION_COST], old?.[DELETION_COST]]
  if (cost === undefined || isInt32(cost) || (before !== undefined && !isInt32(before))) return []
  const error = fieldInvalid(keyPath(path, DELETION_COST), cost, 'must be a 32bit integer')
  return [{ ...error, gate: 'PodDeletionCost' }]
}

const isInt32 = (text: string): boolean =>
  /^(0|-?[0-9]+)$/.test(text) && !/^0./.test(text) && Number(text) === Math.trunc(Number(text) | 0)

// ---- profiles

interface Wording {
  /** The field of a security context. */
  readonly field: 'appArmorProfile' | 'seccompProfile'
  readonly name: string
  /** The texts that mean `RuntimeDefault`. */
  readonly runtime: readonly string[]
}

const SECCOMP: Wording = {
  field: 'seccompProfile',
  name: 'seccomp',
  runtime: ['runtime/default', 'docker/default'],
}
const ARMOR: Wording = { field: 'appArmorProfile', name: 'apparmor', runtime: ['runtime/default'] }
const UNCONFINED = 'unconfined'
const LOCAL = 'localhost/'

/** The error of an annotation that says something else than the profile. */
function disagreement(annotation: string, profile: ValueObject, wording: Wording, path: string): FieldError[] {
  const forbidden = (member: string, what: string): FieldError[] => [
    fieldForbidden(`${path}.${member}`, `${wording.name} ${what} in annotation and field must match`),
  ]
  switch (stringAt(profile, 'type')) {
    case 'Unconfined':
      return annotation === UNCONFINED ? [] : forbidden('type', 'type')
    case 'RuntimeDefault':
      return wording.runtime.includes(annotation) ? [] : forbidden('type', 'type')
    case 'Localhost':
      if (!annotation.startsWith(LOCAL)) return forbidden('type', 'type')
      return has(profile, 'localhostProfile') && annotation === LOCAL + stringAt(profile, 'localhostProfile')
        ? []
        : forbidden('localhostProfile', 'profile')
    default:
      return []
  }
}

const profileIn = (holder: ValueObject, { field }: Wording): ValueObject | undefined => {
  const context = objectAt(holder, 'securityContext')
  return has(context, field) ? objectAt(context, field) : undefined
}

// ---- seccomp

function checkSeccomp(annotations: Annotations, path: string): FieldError[] {
  const check = (key: string): FieldError[] => checkSeccompText(annotations[key]!, childPath(path, key))
  const containers = Object.keys(annotations).filter(key => key.startsWith(CONTAINER_SECCOMP))
  return [...(Object.hasOwn(annotations, POD_SECCOMP) ? check(POD_SECCOMP) : []), ...containers.flatMap(check)]
}

function checkSeccompText(text: string, path: string): FieldError[] {
  if (text === UNCONFINED || SECCOMP.runtime.includes(text)) return []
  return text.startsWith(LOCAL)
    ? checkRelativePath(text.slice(LOCAL.length), path)
    : [fieldInvalid(path, text, 'must be a valid seccomp profile')]
}

function checkSeccompFields(annotations: Annotations, spec: ValueObject, path: string): FieldError[] {
  const places = [
    { holder: spec, key: POD_SECCOMP, at: path },
    ...allContainers(spec, path).map(({ container, path: at }) => ({
      holder: container,
      key: CONTAINER_SECCOMP + stringAt(container, 'name'),
      at,
    })),
  ]
  return places.flatMap(({ holder, key, at }) => {
    const profile = profileIn(holder, SECCOMP)
    const text = annotations[key]
    if (profile === undefined || text === undefined) return []
    return disagreement(text, profile, SECCOMP, `${at}.securityContext.seccompProfile`)
  })
}

// ---- AppArmor

function checkAppArmor(annotations: Annotations, spec: ValueObject, path: string): FieldError[] {
  const names = new Set(allContainers(spec, '').map(({ container }) => stringAt(container, 'name')))
  return Object.keys(annotations).flatMap(key => {
    if (!key.startsWith(APP_ARMOR)) return []
    const at = keyPath(path, key)
    const [name, text] = [key.slice(APP_ARMOR.length), annotations[key]!]
    const isKnown = text === '' || text === UNCONFINED || ARMOR.runtime.includes(text) || text.startsWith(LOCAL)
    const errors = names.has(name) ? [] : [fieldInvalid(at, name, 'container not found')]
    if (!isKnown) errors.push(fieldInvalid(at, text, `invalid AppArmor profile name: ${quote(text)}`))
    return errors
  })
}

const isForWindows = (spec: ValueObject): boolean => stringAt(objectAt(spec, 'os'), 'name') === 'windows'

/** The profile of a container is its own, or that of the pod. */
function checkAppArmorFields(annotations: Annotations, spec: ValueObject, path: string): FieldError[] {
  if (isForWindows(spec)) return []
  const ofPod = profileIn(spec, ARMOR)
  return allContainers(spec, path).flatMap(({ container, path: at }) => {
    const profile = profileIn(container, ARMOR) ?? ofPod
    const text = annotations[APP_ARMOR + stringAt(container, 'name')]
    if (profile === undefined || text === undefined) return []
    return disagreement(text, profile, ARMOR, `${at}.securityContext.appArmorProfile`)
  })
}

/** Sets the fields of containers that have only the annotation, and warns that it is deprecated. */
export function setAppArmorFields(pod: ValueObject, warn: (text: string) => void): void {
  const spec = objectAt(pod, 'spec')
  const annotations = annotationsOf(pod)
  if (isForWindows(spec) || !Object.keys(annotations).some(key => key.startsWith(APP_ARMOR))) return
  const ofPod = profileIn(spec, ARMOR)
  for (const { container } of allContainers(spec, '')) {
    const key = APP_ARMOR + stringAt(container, 'name')
    const text = annotations[key]
    if (text === undefined || profileIn(container, ARMOR) !== undefined) continue
    const profile = profileOf(text)
    if (profile !== undefined && ofPod !== undefined && sameValue(profile, ofPod)) continue
    if (profile !== undefined) ensureObject(container, 'securityContext')['appArmorProfile'] = profile
    warn(`${keyPath('metadata.annotations', key)}: deprecated since v1.30; use the "appArmorProfile" field instead`)
  }
}

/** The profile that an annotation means, if it is a valid one. */
export function profileOf(text: string): ValueObject | undefined {
  if (text === UNCONFINED) return { type: 'Unconfined' }
  if (ARMOR.runtime.includes(text)) return { type: 'RuntimeDefault' }
  const name = text.startsWith(LOCAL) ? text.slice(LOCAL.length) : ''
  const isValid = name !== '' && name === name.trim() && Buffer.byteLength(name) <= MAX_APP_ARMOR_PROFILE
  return isValid ? { type: 'Localhost', localhostProfile: name } : undefined
}

export const MAX_APP_ARMOR_PROFILE = 4095
