// The fields that an endpoint sets back to what they were, whatever a request says: the object's own endpoint does not
// touch the status, and that of the status touches nothing else. Nobody comes to own a field through such an endpoint.
import { type FieldPath, fieldElement } from '../paths/field-path.js'
import { EMPTY, type FieldSet, fieldSet } from '../paths/field-set.js'

export interface Endpoint {
  readonly group: string
  /** The plural name of the resource. */
  readonly resource: string
  readonly subresource: string
  /** Whether the status has an endpoint of its own. */
  readonly hasStatus: boolean
  readonly isCustom: boolean
}

export function resetFields({ group, resource, subresource, hasStatus, isCustom }: Endpoint): FieldSet {
  if (!hasStatus) return EMPTY
  if (subresource === '') return STATUS
  if (subresource !== 'status') return EMPTY
  if (isCustom) return ALL_METADATA
  return BY_STATUS[`${resource}.${group}`] ?? SPEC
}

const path = (...names: readonly string[]): FieldPath => names.map(fieldElement)

const STATUS = fieldSet(path('status'))
const SPEC = fieldSet(path('spec'))
const ALL_METADATA = fieldSet(path('spec'), path('metadata'))

/** The built-in resources whose status endpoint leaves more than the spec alone. */
const BY_STATUS: Readonly<Record<string, FieldSet | undefined>> = {
  'pods.': fieldSet(path('spec'), path('metadata', 'deletionTimestamp'), path('metadata', 'ownerReferences')),
  'deployments.apps': fieldSet(path('spec'), path('metadata', 'labels')),
  'volumeattachments.storage.k8s.io': ALL_METADATA,
  'flowschemas.flowcontrol.apiserver.k8s.io': ALL_METADATA,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': ALL_METADATA,
  'customresourcedefinitions.apiextensions.k8s.io': ALL_METADATA,
  'apiservices.apiregistration.k8s.io': ALL_METADATA,
  'validatingadmissionpolicies.admissionregistration.k8s.io': ALL_METADATA,
}
