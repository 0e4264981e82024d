// Defaults of pods and pod templates.

import {
  ensureObject,
  has,
  numberAt,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
} from '../../../meta/values/access.js'
import { printQuantity } from '../../../meta/values/quantity.js'
import { getOwn, isObject, type ValueObject } from '../../../meta/values/value.js'
import { totalRequest } from './containers/container-resources.js'

/** Defaults of a pod; a template gets only those of the spec. */
export function defaultPod(pod: ValueObject): void {
  const spec = ensureObject(pod, 'spec')
  defaultPodSpec(spec)
  // A pod with a negative grace period has one second; a template keeps what it has.
  if (numberAt(spec, 'terminationGracePeriodSeconds') < 0) spec['terminationGracePeriodSeconds'] = 1
  setDefault(spec, 'enableServiceLinks', true)
  for (const container of allContainers(spec)) {
    requestLimits(container)
    if (spec['hostNetwork'] === true) {
      for (const port of objectsAt(container, 'ports')) {
        if (numberAt(port, 'hostPort') === 0 && has(port, 'containerPort')) port['hostPort'] = port['containerPort']!
      }
    }
  }
  defaultPodRequests(spec)
}

/** Requests of a pod that has limits: those of its containers together, or else the limits. */
function defaultPodRequests(spec: ValueObject): void {
  const resources = objectAt(spec, 'resources')
  const limits = objectAt(resources, 'limits')
  if (Object.keys(limits).length === 0) return
  const requests = { ...objectAt(resources, 'requests') }
  for (const name of ['cpu', 'memory']) {
    const total = totalRequest(spec, name)
    if (!has(requests, name) && total !== undefined) requests[name] = printQuantity(total)
  }
  for (const name of Object.keys(limits)) {
    const isSupported = name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
    if (!has(requests, name) && isSupported) requests[name] = limits[name]!
  }
  if (Object.keys(requests).length > 0) resources['requests'] = requests
}

/** Defaults of a PodTemplateSpec. */
export function defaultPodTemplate(template: ValueObject): void {
  defaultPodSpec(ensureObject(template, 'spec'))
}

export function defaultPodSpec(spec: ValueObject): void {
  // `serviceAccount` is the deprecated name of the field; both are kept equal.
  const account = stringAt(spec, 'serviceAccountName') || stringAt(spec, 'serviceAccount')
  if (account !== '') {
    spec['serviceAccountName'] = account
    spec['serviceAccount'] = account
  }
  setDefault(spec, 'restartPolicy', 'Always')
  setDefault(spec, 'dnsPolicy', 'ClusterFirst')
  setDefault(spec, 'terminationGracePeriodSeconds', 30, false)
  if (!has(spec, 'securityContext')) spec['securityContext'] = {}
  setDefault(spec, 'schedulerName', 'default-scheduler')
  for (const volume of objectsAt(spec, 'volumes')) defaultVolume(volume)
  for (const container of allContainers(spec)) defaultContainer(container)
  for (const container of objectsAt(spec, 'ephemeralContainers')) defaultContainer(container)
}

const allContainers = (spec: ValueObject): readonly ValueObject[] => [
  ...objectsAt(spec, 'initContainers'),
  ...objectsAt(spec, 'containers'),
]

function defaultContainer(container: ValueObject): void {
  setDefault(container, 'terminationMessagePath', '/dev/termination-log')
  setDefault(container, 'terminationMessagePolicy', 'File')
  setDefault(container, 'imagePullPolicy', pullPolicyFor(stringAt(container, 'image')))
  for (const entry of objectsAt(container, 'env')) {
    const field = objectOrNone(objectAt(entry, 'valueFrom'), 'fieldRef')
    if (field !== undefined) setDefault(field, 'apiVersion', 'v1')
  }
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = objectOrNone(container, name)
    if (probe !== undefined) defaultProbe(probe)
  }
  const lifecycle = objectAt(container, 'lifecycle')
  for (const name of ['postStart', 'preStop']) defaultHandler(objectAt(lifecycle, name))
}

function defaultProbe(probe: ValueObject): void {
  defaultHandler(probe)
  const grpc = objectOrNone(probe, 'grpc')
  if (grpc !== undefined) setDefault(grpc, 'service', '', false)
  setDefault(probe, 'timeoutSeconds', 1)
  setDefault(probe, 'periodSeconds', 10)
  setDefault(probe, 'successThreshold', 1)
  setDefault(probe, 'failureThreshold', 3)
}

function defaultHandler(handler: ValueObject): void {
  const http = objectOrNone(handler, 'httpGet')
  if (http === undefined) return
  setDefault(http, 'path', '/')
  setDefault(http, 'scheme', 'HTTP')
}

const MAX_IMAGE_NAME = 255
/** Steps of letters and digits, separated by single dots, underscores or dashes. A host may be before them. */
const IMAGE_NAME =
  /^(?:[A-Za-z0-9.-]+(?::[0-9]+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?$/

/** An image without a tag, or with the tag `latest`, can change, so it is always pulled. */
export function pullPolicyFor(image: string): string {
  const [name = '', digest] = image.split('@', 2)
  // The policy of a name that is no reference is not `Always`.
  if (!IMAGE_NAME.test(name) || name.length > MAX_IMAGE_NAME) return 'IfNotPresent'
  const last = name.slice(name.lastIndexOf('/') + 1)
  const colon = last.indexOf(':')
  const tag = colon === -1 ? (digest === undefined ? 'latest' : '') : last.slice(colon + 1)
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

/** A limit without a request is also the request. */
function requestLimits(container: ValueObject): void {
  const resources = objectAt(container, 'resources')
  const limits = objectOrNone(resources, 'limits')
  if (limits === undefined || Object.keys(limits).length === 0) return
  const requests = objectAt(resources, 'requests')
  const names = [...new Set([...Object.keys(requests), ...Object.keys(limits)])].toSorted()
  resources['requests'] = Object.fromEntries(names.map(name => [name, getOwn(requests, name) ?? limits[name]!]))
}

const VOLUME_MODE = 420 // 0644

function defaultVolume(volume: ValueObject): void {
  if (Object.keys(volume).every(key => key === 'name')) volume['emptyDir'] = {}
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const found = objectOrNone(volume, source)
    if (found !== undefined) setDefault(found, 'defaultMode', VOLUME_MODE, false)
  }
  const hostPath = objectOrNone(volume, 'hostPath')
  if (hostPath !== undefined) setDefault(hostPath, 'type', '', false)
  const image = objectOrNone(volume, 'image')
  if (image !== undefined) setDefault(image, 'pullPolicy', pullPolicyFor(stringAt(image, 'reference')))
  defaultFieldRefs(objectAt(volume, 'downwardAPI'))
  for (const source of objectsAt(objectAt(volume, 'projected'), 'sources')) {
    defaultFieldRefs(objectAt(source, 'downwardAPI'))
    const token = objectOrNone(source, 'serviceAccountToken')
    if (token !== undefined) setDefault(token, 'expirationSeconds', 3600, false)
  }
  const claim = objectAt(objectAt(objectAt(volume, 'ephemeral'), 'volumeClaimTemplate'), 'spec')
  if (isObject(claim) && Object.keys(claim).length > 0) setDefault(claim, 'volumeMode', 'Filesystem', false)
}

function defaultFieldRefs(downward: ValueObject): void {
  for (const item of objectsAt(downward, 'items')) {
    const field = objectOrNone(item, 'fieldRef')
    if (field !== undefined) setDefault(field, 'apiVersion', 'v1')
  }
}
