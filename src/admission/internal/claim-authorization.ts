// What a write of a claim to devices needs beside the verb on the claim: administrative access only in a namespace that is
// labelled for it, and rights of their own for the allocation and for the reports of drivers.

import { type GetAuthorizer, refusal } from '../../auth/authorizer.js'
import { type FieldError, fieldForbidden } from '../../meta/errors/field-errors.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import type { Attributes } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'

const GROUP = 'resource.k8s.io'
const ADMIN_LABEL = 'resource.kubernetes.io/admin-access'

/** `isGranular`: whether parts of the status need rights of their own. */
export const claimAuthorization = (objects: Lister, authorizer: GetAuthorizer, isGranular = true): AdmissionPlugin => ({
  name: 'ResourceClaimAuthorization',
  operations: new Set(['CREATE', 'UPDATE']),
  resources: [`resourceclaims.${GROUP}`, `resourceclaims.${GROUP}/status`, `resourceclaimtemplates.${GROUP}`],
  async check(attributes) {
    const { object, oldObject, namespace, subresource } = attributes
    const isStatus = subresource === 'status'
    if (object === undefined || (oldObject !== undefined && !isStatus)) return []
    const path = isStatus ? adminResult(object, oldObject) : adminRequest(object)
    const errors: FieldError[] = []
    if (path !== undefined && !(await isForAdmins(objects, namespace))) {
      const why = `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`
      errors.push(fieldForbidden(path, why))
    }
    if (isStatus && oldObject && isGranular)
      errors.push(...(await checkStatusRights(attributes, object, oldObject, authorizer)))
    return errors
  },
})

async function isForAdmins(objects: Lister, name: string): Promise<boolean> {
  const namespace = await objects.find({ group: '', kind: 'Namespace' }, '', name)
  return namespace !== undefined && metaOf(namespace).labels?.[ADMIN_LABEL] === 'true'
}

const isAdmin = (holder: ValueObject): boolean => getOwn(holder, 'adminAccess') === true

/** Where a new claim, or the claim of a template, asks for administrative access. */
function adminRequest(object: ApiObject): string | undefined {
  const spec = objectAt(object, 'spec')
  const claim = object.kind === 'ResourceClaimTemplate' ? objectAt(spec, 'spec') : spec
  const requests = objectsAt(objectAt(claim, 'devices'), 'requests')
  // In v1beta1 the request itself has the field.
  const at = requests.findIndex(request => isAdmin(objectAt(request, 'exactly')) || isAdmin(request))
  return at < 0 ? undefined : `spec.devices.requests[${at}].adminAccess`
}

const statusOf = (claim: ApiObject | undefined): ValueObject => objectAt(claim ?? {}, 'status')
const resultsOf = (claim: ApiObject | undefined): readonly ValueObject[] =>
  objectsAt(objectAt(objectAt(statusOf(claim), 'allocation'), 'devices'), 'results')

/** Where a status grants it and did not before. */
function adminResult(claim: ApiObject, old: ApiObject | undefined): string | undefined {
  const at = resultsOf(old).some(isAdmin) ? -1 : resultsOf(claim).findIndex(isAdmin)
  return at < 0 ? undefined : `status.allocation.devices.results[${at}].adminAccess`
}

// ---- rights to parts of the status

async function checkStatusRights(
  { request, namespace }: Attributes,
  claim: ApiObject,
  old: ApiObject,
  authorizer: GetAuthorizer,
): Promise<FieldError[]> {
  const { verb } = request.info
  const refusedBy = async (attributes: {
    verb: string
    subresource: string
    namespace: string
    name: string
  }): Promise<string | undefined> => {
    const access = { group: GROUP, resource: 'resourceclaims', ...attributes }
    const decision = await authorizer().authorize(request.user, access)
    return decision.allowed ? undefined : refusal(request.user, access, decision).message
  }
  const errors: FieldError[] = []
  const [status, before] = [statusOf(claim), statusOf(old)]
  const isSame = (name: string): boolean => equalValues(getOwn(status, name) ?? null, getOwn(before, name) ?? null)
  if (!isSame('allocation') || !isSame('reservedFor')) {
    const refused = await refusedBy({ verb, subresource: 'binding', namespace: '', name: '' })
    if (refused !== undefined) {
      const what = 'changing status.allocation or status.reservedFor requires resource="resourceclaims/binding"'
      errors.push(fieldForbidden('status.allocation', `${what}, verb="${verb}" permission: ${refused}`))
    }
  }
  if (getOwn(status, 'allocation') === undefined) return errors
  const verbs = [...(isOnAllocatedNode(request.user, status) ? ['associated-node'] : []), 'arbitrary-node'].map(
    prefix => `${prefix}:${verb}`,
  )
  for (const name of changedDrivers(status, before)) {
    let first: string | undefined
    let isAllowed = false
    for (const each of verbs) {
      const refused = await refusedBy({ verb: each, subresource: 'driver', namespace, name })
      isAllowed ||= refused === undefined
      first ??= refused
    }
    if (isAllowed) continue
    const what = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]"`
    errors.push(fieldForbidden('status.devices', `${what} permission: ${first}`))
  }
  return errors
}

const keyOf = (report: ValueObject): string =>
  JSON.stringify(['driver', 'pool', 'device', 'shareID'].map(name => stringAt(report, name)))

/** The drivers whose reports are new, changed or gone, in the order of their names. */
function changedDrivers(status: ValueObject, before: ValueObject): string[] {
  const old = new Map(objectsAt(before, 'devices').map(report => [keyOf(report), report]))
  const drivers = new Set<string>()
  for (const report of objectsAt(status, 'devices')) {
    const was = old.get(keyOf(report))
    old.delete(keyOf(report))
    if (was === undefined || !equalValues(was, report)) drivers.add(stringAt(report, 'driver'))
  }
  for (const report of old.values()) drivers.add(stringAt(report, 'driver'))
  return [...drivers].toSorted()
}

const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name'

/** A service account whose token was made for a pod on the one node of the allocation. */
function isOnAllocatedNode({ name, extra }: Attributes['request']['user'], status: ValueObject): boolean {
  const terms = objectsAt(objectAt(objectAt(status, 'allocation'), 'nodeSelector'), 'nodeSelectorTerms')
  const fields = objectsAt(terms[0] ?? {}, 'matchFields')
  const [values, nodes] = [fields[0]?.['values'], extra[NODE_NAME_KEY]]
  const isOneNode =
    terms.length === 1 &&
    objectsAt(terms[0]!, 'matchExpressions').length === 0 &&
    fields.length === 1 &&
    stringAt(fields[0]!, 'key') === 'metadata.name' &&
    stringAt(fields[0]!, 'operator') === 'In' &&
    Array.isArray(values) &&
    values.length === 1
  return isOneNode && name.startsWith('system:serviceaccount:') && nodes?.length === 1 && nodes[0] === values[0]
}
