// Who has a say in what is written: a list of plugins, asked one after the other.

import type { Authorizer } from '../auth/authorizer.js'
import { refusal } from '../auth/authorizer.js'
import { checkEscalation } from '../auth/escalation.js'
import { resourceOf } from '../kinds/kind-names.js'
import { forbidden } from '../meta/errors/status.js'
import { quote } from '../meta/go/go-text.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { type Admission, type AdmissionRequest } from './attributes.js'
import { checkNamespaceLifecycle, type FindNamespace } from './plugins/namespace-lifecycle.js'
import { checkRequestedSubject, checkSignerUse, requestedBy, SIGNING_REQUESTS } from './plugins/signing-requests.js'

/** A plugin has a say when something changes the object, when it is final, or both. */
export interface AdmissionPlugin extends Partial<Admission> {
  /** As kube-apiserver calls it. */
  readonly name: string
}

export function admissionOf(plugins: readonly AdmissionPlugin[]): Admission {
  const admitting = plugins.flatMap(({ admit }) => admit ?? [])
  const validating = plugins.flatMap(({ validate }) => validate ?? [])
  const permitting = plugins.flatMap(({ permit }) => permit ?? [])
  return {
    async admit(request, warnings) {
      let { object } = request
      for (const admit of admitting) {
        object = await admit(object === request.object ? request : { ...request, object }, warnings)
      }
      return object
    },
    async validate(request, warnings) {
      for (const validate of validating) await validate(request, warnings)
    },
    async permit(verb, target, user) {
      for (const permit of permitting) await permit(verb, target, user)
    },
  }
}

/** Before anything else is found wrong with an object, there must be a place for it. */
export function namespaceLifecycle(find: FindNamespace): AdmissionPlugin {
  const check = ({ operation, target, object }: AdmissionRequest): Promise<void> =>
    checkNamespaceLifecycle(
      { operation, resource: resourceOf(target.kind), namespace: target.namespace, name: nameOf(target.name, object) },
      find,
    )
  return {
    name: 'NamespaceLifecycle',
    async admit(request) {
      await check(request)
      return request.object
    },
    async validate(request) {
      // What is created or updated has been looked at above.
      if (request.operation === 'DELETE') await check(request)
    },
  }
}

/** Rights that only show when it is known what is to be written. Looks at what all others have made of the object. */
export function writeRights(authorizer: () => Authorizer): AdmissionPlugin {
  return {
    name: 'WriteRights',
    async admit(request) {
      await checkEscalation(request, authorizer())
      return request.object
    },
    async validate({ operation, target, user }) {
      // A create that names its object in the path is an update of what is not there.
      if (operation !== 'CREATE' || target.name === '') return
      const { namespace, name, subresource } = target
      const attributes = { verb: 'create', ...resourceOf(target.kind), subresource, namespace, name }
      const decision = await authorizer().authorize(user, attributes)
      if (!decision.allowed) throw refusal(user, attributes, decision)
    },
    async permit(verb, { kind, namespace, name, subresource }, user) {
      const attributes = { verb, ...resourceOf(kind), subresource, namespace, name }
      const { allowed, reason } = await authorizer().authorize(user, attributes)
      if (!allowed) throw forbidden(resourceOf(kind), name, `not permitted to do ${quote(verb)}, reason: ${reason}`)
    },
  }
}

/** Requests for certificates tell who asked; for some, and to answer them, it takes more than the right to write them. */
export const signingRequests = (authorizer: () => Authorizer): AdmissionPlugin[] => {
  const isRequest = ({ target }: AdmissionRequest): boolean =>
    target.kind.group === SIGNING_REQUESTS.group && target.kind.names.plural === SIGNING_REQUESTS.resource
  const answering = (name: string, part: 'approval' | 'status'): AdmissionPlugin => ({
    name,
    async validate(request) {
      const { operation, target, object, old, user } = request
      if (operation !== 'UPDATE' || target.subresource !== part || !isRequest(request)) return
      await checkSignerUse(part, object!, old!, async (verb, signer) => {
        const signers = { group: SIGNING_REQUESTS.group, resource: 'signers', subresource: '' }
        return (await authorizer().authorize(user, { verb, ...signers, namespace: '', name: signer })).allowed
      })
    },
  })
  return [
    {
      name: 'CertificateRequester',
      admit: async request =>
        request.operation === 'CREATE' && isRequest(request)
          ? requestedBy(request.object, request.user)
          : request.object,
    },
    {
      name: 'CertificateSubjectRestriction',
      async validate(request) {
        if (request.operation === 'CREATE' && isRequest(request)) checkRequestedSubject(request.object!)
      },
    },
    answering('CertificateApproval', 'approval'),
    answering('CertificateSigning', 'status'),
  ]
}

const nameOf = (name: string, object: ApiObject | undefined): string =>
  name === '' && object ? (metaOf(object).name ?? '') : name

/** A kind whose definition is on its way out takes nothing in. */
export const definitionLifecycle: AdmissionPlugin = {
  name: 'CustomResourceDefinitionLifecycle',
  async validate({ operation, target: { kind, name }, object }) {
    if (operation !== 'CREATE' || kind.verbs.includes('create')) return
    const why = 'create not allowed while custom resource definition is terminating'
    throw forbidden(resourceOf(kind), nameOf(name, object), why)
  },
}
