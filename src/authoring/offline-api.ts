// The API without a server and without a store: objects are decoded, defaulted, admitted and validated by the pipeline
// that serves requests, with the definitions and policies that are given. What a plugin of admission would look up are
// the objects that were kept.

import { type Kind } from '../kinds/kind.js'
import { createRegistry, type Registry, type VersionedKind } from '../kinds/registry.js'
import { requestEntityTooLarge, type Status, StatusError } from '../meta/errors/status.js'
import { groupVersionKind } from '../meta/group-version.js'
import { type ApiObject, setMeta } from '../meta/object/api-object.js'
import { RANDOM_IDS } from '../meta/object/ids.js'
import { metaOf, setRequestNamespace } from '../meta/object/object-meta.js'
import type { FieldValidation } from '../meta/options/write-options.js'
import { printTime } from '../meta/values/time.js'
import { copyValue, type ValueObject } from '../meta/values/value.js'
import type { Body } from '../request/body.js'
import { forResource, systemRequest } from '../request/request.js'
import type { Target } from '../request/target.js'
import type { UserInfo } from '../request/user-info.js'
import { RuleCompiler } from '../schema/rules.js'
import {
  bodySpecOf,
  type CreateRequest,
  DECODED,
  offlineEnv,
  type Prepared,
  prepareCreate,
  prepareUpdate,
  readObject,
} from '../verbs/pipeline.js'
import { createKeptObjects } from './offline/kept-objects.js'
import { createOfflineAdmission } from './offline/offline-admission.js'
import { type Defined, defineKind, installBuiltinKinds } from './offline/offline-kinds.js'

export type { Defined } from './offline/offline-kinds.js'

export interface OfflineApi {
  readonly registry: Registry
  /** The served version of a kind. */
  find(apiVersion: string, kind: string): VersionedKind | undefined
  /** What the server would answer to the create of this body. */
  create(of: VersionedKind, body: Body, options?: WriteAs): Promise<Answer>
  /** What it would answer to the update of an object to this body. */
  update(of: VersionedKind, body: Body, old: ApiObject, options?: WriteAs): Promise<Answer>
  /** A value as the server would have it in its store: with defaults and system fields, valid or not. */
  asStored(of: VersionedKind, value: ValueObject): ApiObject
  /** Plugins of admission see the object from now on. A policy is applied, and a definition defines its kind. */
  keep(object: ApiObject): Defined
}

export interface WriteAs {
  readonly fieldValidation?: FieldValidation | undefined
  /** The namespace of objects that name none. */
  readonly namespace?: string | undefined
  readonly user?: UserInfo | undefined
  readonly userAgent?: string | undefined
}

/** What a client would get. */
export interface Answer {
  /** Undefined if the object is accepted. */
  readonly status: Status | undefined
  readonly warnings: readonly string[]
  /** Undefined if the object is refused. */
  readonly prepared: Prepared | undefined
}

export const ADMINISTRATOR: UserInfo = {
  name: 'kubernetes-admin',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
}

/** The limit of a request to the server. */
const MAX_BODY = 3 * 1024 * 1024

export function createOfflineApi(now: () => number = Date.now): OfflineApi {
  const registry = createRegistry()
  const ruleCompiler = new RuleCompiler()
  const builtin = installBuiltinKinds(registry, ruleCompiler)
  const kept = createKeptObjects()
  const env = offlineEnv({ now, admission: createOfflineAdmission(kept, registry, now) })

  /** Runs a write; what refuses it is the answer. */
  async function answer(
    of: VersionedKind,
    body: Body,
    { fieldValidation = '', namespace = 'default', user = ADMINISTRATOR, userAgent = 'binnacle' }: WriteAs,
    write: (request: CreateRequest, sent: ApiObject) => Promise<Prepared>,
  ): Promise<Answer> {
    const request = systemRequest({ user, userAgent, receivedAt: now() })
    try {
      if (body.bytes.length > MAX_BODY) throw requestEntityTooLarge(`limit is ${MAX_BODY}`)
      if (of.version.deprecationWarning) request.warn(of.version.deprecationWarning)
      const sent = readObject(request, body, bodySpecOf(of), fieldValidation)
      const target = targetOf(of, metaOf(sent).namespace || namespace)
      const options = { dryRun: false, fieldManager: '', fieldValidation }
      const prepared = await write(forResource(request, target, options), sent)
      return { status: undefined, warnings: request.warnings.texts, prepared }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return { status: error.status, warnings: request.warnings.texts, prepared: undefined }
    }
  }

  return {
    registry,
    find(apiVersion, name) {
      const { group, version, kind: wanted } = groupVersionKind(apiVersion, name)
      const kind = registry.findKind(group, wanted)
      const found = kind?.versions.find(each => each.served && each.name === version)
      return kind && found && { kind, version: found }
    },
    create: (of, body, options = {}) =>
      answer(of, body, options, (request, sent) => prepareCreate(env, request, sent, DECODED)),
    update: (of, body, old, options = {}) =>
      answer(of, body, options, (request, sent) => {
        const { name = '', uid, resourceVersion } = metaOf(old)
        const meta = setRequestNamespace(metaOf(sent), request.target.namespace)
        // A manifest may have these of another cluster.
        const object = setMeta(sent, { ...meta, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) })
        const named = { ...request.target, name }
        const replacement = { ...DECODED, object, isWhatClientSaw: true }
        return prepareUpdate(env, forResource(request, named, request.options), old, replacement)
      }),
    asStored(of, value) {
      const { object } = of.version.strategy.decode(copyValue(value), [])
      const meta = { uid: RANDOM_IDS.uid(), creationTimestamp: printTime(now()), generation: 1, resourceVersion: '1' }
      const placed = of.kind.namespaced ? { namespace: 'default', ...metaOf(object) } : metaOf(object)
      return of.version.strategy.applyDefaults(setMeta(object, { ...meta, ...placed }))
    },
    keep(object) {
      kept.add(object)
      return defineKind(object, { registry, ruleCompiler, builtin, kept, now: now() })
    },
  }
}

const targetOf = (of: VersionedKind, namespace: string): Target => ({
  ...of,
  namespace: isNamespaced(of.kind) ? namespace : '',
  name: '',
  subresource: '',
})

const isNamespaced = ({ namespaced }: Kind): boolean => namespaced
