// The parameters of a binding: objects of the policy's paramKind, by name or by labels.

import { type Awaitable, allOf } from '../../base/awaitable.js'
import type { Kind } from '../../kinds/kind.js'
import { groupVersionKind, printGroupVersionKind } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { type LabelSelector, matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import { objectOrNone, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'

/** Parameters cannot be found: the policy or the binding is configured wrongly. */
export class ConfigurationError extends Error {}

export interface ParamsEnv {
  readonly objects: Lister
  readonly findKind: (group: string, kind: string) => Kind | undefined
}

export interface ParamKind {
  readonly apiVersion: string
  readonly kind: Kind
}

/** The kind of a policy's parameters; undefined if it has none. */
export function paramKindOf(spec: ValueObject, { findKind }: ParamsEnv): ParamKind | undefined {
  const wanted = objectOrNone(spec, 'paramKind')
  if (wanted === undefined) return undefined
  const apiVersion = stringAt(wanted, 'apiVersion')
  const wantedKind = groupVersionKind(apiVersion, stringAt(wanted, 'kind'))
  const kind = findKind(wantedKind.group, wantedKind.kind)
  if (!kind?.versions.some(({ served, name }) => served && name === wantedKind.version)) {
    const shown = printGroupVersionKind(wantedKind)
    throw new ConfigurationError(`failed to find resource referenced by paramKind: '${shown}'`)
  }
  return { apiVersion, kind }
}

/**
 * The parameters with which a policy is evaluated for a binding: once for each of them, once with undefined if the
 * policy or the binding has none, and not at all if none are found and that is allowed.
 */
export function findParams(
  paramKind: ParamKind | undefined,
  binding: ValueObject,
  namespace: string,
  env: ParamsEnv,
): Awaitable<readonly (ApiObject | undefined)[]> {
  const ref = paramKind && objectOrNone(binding, 'paramRef')
  return ref === undefined ? NO_PARAMS : paramsOf(paramKind!, ref, namespace, env)
}

const NO_PARAMS = [undefined]

async function paramsOf(
  { kind, apiVersion }: ParamKind,
  ref: ValueObject,
  namespace: string,
  { objects }: ParamsEnv,
): Promise<readonly ApiObject[]> {
  const groupKind = { group: kind.group, kind: kind.names.kind }
  const where = namespaceOf(ref, kind, namespace)
  const name = stringAt(ref, 'name')
  const found =
    name === ''
      ? await select(objects.all(groupKind, where), selectorIn(ref))
      : [await objects.find(groupKind, where, name)].filter(object => object !== undefined)
  if (found.length === 0 && stringAt(ref, 'parameterNotFoundAction') === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  return allOf(found.map(object => kind.convert(object, apiVersion)))
}

function namespaceOf(ref: ValueObject, { namespaced }: Kind, ofRequest: string): string {
  const namespace = stringAt(ref, 'namespace')
  if (namespaced) {
    if (namespace !== '') return namespace
    if (ofRequest !== '') return ofRequest
    throw new ConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    )
  }
  if (namespace === '') return ''
  throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
}

function selectorIn(ref: ValueObject): LabelSelector {
  const selector = selectorOf(objectOrNone(ref, 'selector'))
  if (!selector.ok) throw new ConfigurationError(selector.error)
  return selector.value
}

const select = async (objects: Promise<readonly ApiObject[]>, selector: LabelSelector): Promise<ApiObject[]> =>
  (await objects).filter(object => matchesLabels(selector, metaOf(object).labels ?? {}))
