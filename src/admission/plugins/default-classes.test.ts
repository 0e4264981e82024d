// DefaultStorageClass, DefaultIngressClass and PersistentVolumeClaimResize.
import { describe, expect, test } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import { attributesFor, mutated, refusalOf } from '../attributes.suite.js'
import { defaultIngressClass } from './default-ingress-class.js'
import { defaultStorageClass } from './default-storage-class.js'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.js'

const objectOf = (kind: string, metadata: ValueObject, rest: ValueObject = {}): ApiObject => ({
  apiVersion: 'v1',
  kind,
  metadata,
  ...rest,
})
const lister = (...classes: ApiObject[]): Lister => ({
  find: async (_, __, name) => classes.find(({ metadata }) => metadata['name'] === name),
  all: async () => classes,
})
const storageClass = (name: string, creationTimestamp: string, annotations: ValueObject, rest: ValueObject = {}) =>
  objectOf('StorageClass', { name, creationTimestamp, annotations }, rest)

const DEFAULT = { 'storageclass.kubernetes.io/is-default-class': 'true' }

describe('DefaultStorageClass', () => {
  const classes = lister(
    storageClass('plain', '2026-01-09T00:00:00Z', {}),
    storageClass('old', '2026-01-01T00:00:00Z', DEFAULT),
    storageClass('b', '2026-01-02T00:00:00Z', DEFAULT),
    storageClass('a', '2026-01-02T00:00:00Z', { 'storageclass.beta.kubernetes.io/is-default-class': 'true' }),
    storageClass('not', '2026-01-03T00:00:00Z', { 'storageclass.kubernetes.io/is-default-class': 'false' }),
  )
  const classOf = async (objects: Lister, spec: ValueObject, annotations: ValueObject = {}): Promise<unknown> => {
    const object = objectOf('PersistentVolumeClaim', { name: 'c', annotations }, { spec })
    const claim = await mutated(defaultStorageClass(objects), attributesFor('persistentvolumeclaims', { object }))
    return (claim!['spec'] as ValueObject)['storageClassName']
  }

  test('is the newest default class, and the first by name of equally old ones', async () => {
    expect(await classOf(classes, {})).toBe('a')
  })

  test('is not used if the claim has a class, be it empty, or the old annotation', async () => {
    expect(await classOf(classes, { storageClassName: '' })).toBe('')
    expect(await classOf(classes, {}, { 'volume.beta.kubernetes.io/storage-class': '' })).toBeUndefined()
  })

  test('changes nothing if there is no default class', async () => {
    expect(await classOf(lister(), {})).toBeUndefined()
  })
})

test('DefaultIngressClass sets the default class unless field or annotation name one', async () => {
  const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
  const plugin = defaultIngressClass(lister(objectOf('IngressClass', { name: 'nginx', annotations })))
  const classOf = async (metadata: ValueObject, spec: ValueObject): Promise<unknown> => {
    const attributes = attributesFor('ingresses.networking.k8s.io', { object: objectOf('Ingress', metadata, { spec }) })
    return ((await mutated(plugin, attributes))!['spec'] as ValueObject)['ingressClassName']
  }
  expect(await classOf({}, {})).toBe('nginx')
  expect(await classOf({}, { ingressClassName: 'other' })).toBe('other')
  expect(await classOf({ annotations: { 'kubernetes.io/ingress.class': 'x' } }, {})).toBeUndefined()
})

describe('PersistentVolumeClaimResize', () => {
  const plugin = persistentVolumeClaimResize(
    lister(
      storageClass('grows', '2026-01-01T00:00:00Z', {}, { allowVolumeExpansion: true }),
      storageClass('fixed', '2026-01-01T00:00:00Z', {}),
    ),
  )
  const claim = (storage: string, storageClassName: string, phase = 'Bound'): ApiObject =>
    objectOf(
      'PersistentVolumeClaim',
      { name: 'c' },
      { spec: { storageClassName, resources: { requests: { storage } } }, status: { phase } },
    )
  const NOT_RESIZABLE =
    'persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize'

  test.each([
    ['1Gi', claim('2Gi', 'grows'), ''],
    ['2Gi', claim('2Gi', 'fixed'), ''],
    ['1Gi', claim('2Gi', 'fixed'), NOT_RESIZABLE],
    ['1Gi', claim('2Gi', ''), NOT_RESIZABLE],
    ['1Gi', claim('2Gi', 'absent'), NOT_RESIZABLE],
  ])('from %s', async (size, object, refusal) => {
    const { storageClassName } = object['spec'] as { storageClassName: string }
    const attributes = attributesFor('persistentvolumeclaims', { object, oldObject: claim(size, storageClassName) })
    expect(await refusalOf(plugin, attributes)).toBe(refusal)
  })

  test('of a claim that is not bound is refused', async () => {
    const attributes = attributesFor('persistentvolumeclaims', {
      object: claim('2Gi', 'grows'),
      oldObject: claim('1Gi', 'grows', 'Pending'),
    })
    expect(await refusalOf(plugin, attributes)).toBe(
      'persistentvolumeclaims "c" is forbidden: Only bound persistent volume claims can be expanded',
    )
  })
})
