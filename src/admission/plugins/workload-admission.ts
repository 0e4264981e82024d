// The admission plugins that look after pods, claims and nodes, in the order in which they are asked. What they look up
// they get from the stores.

import { resourceOf } from '../../kinds/kind-names.js'
import { forbidden, type StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import type { GroupKind } from '../../meta/group-version.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, objectAt, stringAt } from '../../meta/values/access.js'
import type { Lister } from '../../objects/lister.js'
import { type AdmissionRequest } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import { claimLimitErrors, limitPod, podLimitErrors } from './limit-ranger.js'
import { addTolerations, taintNewNode } from './node-health.js'
import { podSecurity } from './pod-security/plugin.js'
import { defaultClassError, defaultClassOf, keepPriority, setPriority, systemClassError } from './priority.js'
import { runtimeError, setRuntime } from './runtime-class.js'
import { protectStorage } from './storage-protection.js'

const POD: GroupKind = { group: '', kind: 'Pod' }
const CLAIM: GroupKind = { group: '', kind: 'PersistentVolumeClaim' }
const NODE: GroupKind = { group: '', kind: 'Node' }
const LIMIT_RANGE: GroupKind = { group: '', kind: 'LimitRange' }
const RUNTIME_CLASS: GroupKind = { group: 'node.k8s.io', kind: 'RuntimeClass' }
const PRIORITY_CLASS: GroupKind = { group: 'scheduling.k8s.io', kind: 'PriorityClass' }

export const workloadPlugins = (objects: Lister): AdmissionPlugin[] => [
  limitRanger(objects),
  taintNodes,
  podSecurity(objects),
  priority(objects),
  defaultTolerations,
  storageProtection,
  runtimeClass(objects),
  systemPriorityClasses,
]

const isOfKind = ({ target }: AdmissionRequest, { group, kind }: GroupKind): boolean =>
  target.kind.names.kind === kind && target.kind.group === group

/** Whether it is about an object of that kind, and not about a part of one. */
const isAbout = (request: AdmissionRequest, kind: GroupKind): boolean =>
  isOfKind(request, kind) && request.target.subresource === ''

const isCreated = (request: AdmissionRequest, kind: GroupKind): boolean =>
  request.operation === 'CREATE' && isAbout(request, kind)

/** The name may be yet to be made. */
function refusal({ target, object }: AdmissionRequest, why: string): StatusError {
  const { name = '', generateName = '' } = object ? metaOf(object) : {}
  return forbidden(resourceOf(target.kind), target.name || name || generateName || 'Unknown', why)
}

function limitRanger(objects: Lister): AdmissionPlugin {
  // What a pod asks for is settled when it is made, and when it is resized.
  const isSized = (request: AdmissionRequest): boolean =>
    isCreated(request, POD) || (request.target.subresource === 'resize' && isOfKind(request, POD))
  const rangesFor = ({ target }: AdmissionRequest): Promise<readonly ApiObject[]> =>
    objects.all(LIMIT_RANGE, target.namespace)
  return {
    name: 'LimitRanger',
    async admit(request) {
      return isSized(request) ? limitPod(request.object, await rangesFor(request)) : request.object
    },
    async validate(request) {
      const { object, operation } = request
      if (!object) return
      const isClaim = operation !== 'DELETE' && isAbout(request, CLAIM)
      if (!isClaim && !isSized(request)) return
      const ranges = await rangesFor(request)
      const errors = isClaim ? claimLimitErrors(object, ranges) : podLimitErrors(object, ranges)
      if (errors.length > 0) throw refusal(request, errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
    },
  }
}

const taintNodes: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  admit: async request => (isCreated(request, NODE) ? taintNewNode(request.object) : request.object),
}

function priority(objects: Lister): AdmissionPlugin {
  const classes = (): Promise<readonly ApiObject[]> => objects.all(PRIORITY_CLASS, '')
  return {
    name: 'Priority',
    async admit(request) {
      const { object, old, operation } = request
      if (!isAbout(request, POD)) return object
      if (operation !== 'CREATE') return old ? keepPriority(object, old) : object
      const name = stringAt(objectAt(object, 'spec'), 'priorityClassName')
      const found = name === '' ? defaultClassOf(await classes()) : await objects.find(PRIORITY_CLASS, '', name)
      if (name !== '' && !found) throw refusal(request, `no PriorityClass with name ${name} was found`)
      const set = setPriority(object, found)
      if ('refusal' in set) throw refusal(request, set.refusal)
      return set.pod
    },
    async validate(request) {
      if (!request.object || !isAbout(request, PRIORITY_CLASS)) return
      if (request.object['globalDefault'] !== true) return
      const error = defaultClassError(request.object, await classes())
      if (error !== undefined) throw refusal(request, error)
    },
  }
}

const defaultTolerations: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  admit: async request =>
    isAbout(request, POD) && request.operation !== 'DELETE' ? addTolerations(request.object) : request.object,
}

const storageProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  async admit({ operation, target: { kind, subresource }, object }) {
    return operation === 'CREATE' && subresource === '' ? protectStorage(object, kind.group, kind.names.kind) : object
  },
}

function runtimeClass(objects: Lister): AdmissionPlugin {
  const classOf = async (request: AdmissionRequest, pod: ApiObject): Promise<ApiObject | undefined> => {
    const spec = objectAt(pod, 'spec')
    if (!has(spec, 'runtimeClassName')) return undefined
    const name = stringAt(spec, 'runtimeClassName')
    const found = await objects.find(RUNTIME_CLASS, '', name)
    if (!found) throw refusal(request, `pod rejected: RuntimeClass ${quote(name)} not found`)
    return found
  }
  return {
    name: 'RuntimeClass',
    async admit(request) {
      if (!isCreated(request, POD)) return request.object
      const found = await classOf(request, request.object)
      if (!found) return request.object
      const set = setRuntime(request.object, found)
      if ('refusal' in set) throw refusal(request, set.refusal)
      return set.pod
    },
    async validate(request) {
      if (!request.object || !isCreated(request, POD)) return
      const error = runtimeError(request.object, await classOf(request, request.object))
      if (error !== undefined) throw refusal(request, error)
    },
  }
}

/** Not a plugin of kube-apiserver's, and so not one that can be switched off: some classes stay. */
const systemPriorityClasses: AdmissionPlugin = {
  name: 'SystemPriorityClasses',
  async validate(request) {
    if (request.operation !== 'DELETE' || !isAbout(request, PRIORITY_CLASS)) return
    const error = systemClassError(request.target.name)
    if (error !== undefined) throw refusal(request, error)
  },
}
