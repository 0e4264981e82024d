// DefaultIngressClass: a new Ingress without a class gets the default IngressClass.

import { has, mapAt, objectAt } from '../../meta/values/access.js'
import type { Lister } from '../../objects/lister.js'
import type { AdmissionPlugin } from '../chain.js'
import { defaultClassOf } from './default-class.js'

const INGRESS_CLASS = { group: 'networking.k8s.io', kind: 'IngressClass' }
const IS_DEFAULT = ['ingressclass.kubernetes.io/is-default-class'] as const

/** Ingresses once named their class in this annotation. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'

export const defaultIngressClass = (objects: Lister): AdmissionPlugin => ({
  name: 'DefaultIngressClass',
  operations: new Set(['CREATE']),
  resources: ['ingresses.networking.k8s.io'],
  async mutate({ object: ingress }) {
    if (!ingress) return undefined
    const spec = objectAt(ingress, 'spec')
    if (has(spec, 'ingressClassName') || has(mapAt(ingress.metadata, 'annotations'), CLASS_ANNOTATION)) return undefined
    const ingressClassName = defaultClassOf(await objects.all(INGRESS_CLASS, ''), IS_DEFAULT)
    return ingressClassName === undefined ? undefined : { ...ingress, spec: { ...spec, ingressClassName } }
  },
})
