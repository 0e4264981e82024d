// The options of create, update, patch and delete: from the query parameters, and for a delete also from its body.
// Errors are thrown.
import {
  asString,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../errors/field-errors.js'
import { badRequest, conflict, invalid, type StatusError } from '../errors/status.js'
import type { GroupKind, GroupResource } from '../group-version.js'
import { checkFieldManager, type ObjectMeta } from '../object/object-meta.js'
import { queryInteger, querySwitch, queryText } from './query.js'

export interface WriteOptions {
  readonly dryRun: boolean
  /** Empty if not given. */
  readonly fieldManager: string
  /** Empty if not given. */
  readonly fieldValidation: FieldValidation
}

export type FieldValidation = '' | 'Ignore' | 'Warn' | 'Strict'

export interface PatchOptions extends WriteOptions {
  /** Only for apply. */
  readonly force: boolean
}

export interface DeleteOptions {
  readonly dryRun: boolean
  readonly gracePeriodSeconds?: number
  readonly preconditions?: Preconditions
  readonly propagationPolicy?: PropagationPolicy
  /** The deprecated form of Orphan (true) or Background (false). */
  readonly orphanDependents?: boolean
  readonly ignoreStoreReadError: boolean
}

export interface Preconditions {
  readonly uid?: string
  readonly resourceVersion?: string
}

export type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan'

export const parseCreateOptions = (query: URLSearchParams): WriteOptions => writeOptions(query, 'CreateOptions', [])

export const parseUpdateOptions = (query: URLSearchParams): WriteOptions => writeOptions(query, 'UpdateOptions', [])

export function parsePatchOptions(query: URLSearchParams, apply: boolean): PatchOptions {
  const force = querySwitch(query, 'force')
  const errors: FieldError[] = []
  if (!apply && force !== undefined) {
    errors.push(fieldForbidden('force', 'may not be specified for non-apply patch'))
  }
  if (apply && queryText(query, 'fieldManager') === '') {
    errors.push(fieldRequired('fieldManager', 'is required for apply patch'))
  }
  return { force: force ?? false, ...writeOptions(query, 'PatchOptions', errors) }
}

function writeOptions(query: URLSearchParams, kind: string, errors: readonly FieldError[]): WriteOptions {
  const fieldManager = queryText(query, 'fieldManager')
  const dryRun = query.getAll('dryRun')
  const fieldValidation = queryText(query, 'fieldValidation')
  const all = [...errors, ...checkFieldManager(fieldManager, 'fieldManager'), ...checkDryRun(dryRun)]
  if (!FIELD_VALIDATIONS.includes(fieldValidation)) {
    all.push(fieldNotSupported('fieldValidation', asString(fieldValidation), FIELD_VALIDATIONS))
  }
  if (all.length > 0) throw invalidOptions(kind, all)
  return { dryRun: dryRun.length > 0, fieldManager, fieldValidation: fieldValidation as FieldValidation }
}

const FIELD_VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn']

const checkDryRun = (dryRun: readonly string[]): FieldError[] =>
  dryRun.every(value => value === 'All') ? [] : [fieldNotSupported('dryRun', [...dryRun], ['All'])]

const invalidOptions = (kind: string, errors: readonly FieldError[]): StatusError =>
  invalid({ group: 'meta.k8s.io', kind }, '', errors)

// ---- delete

/** The options of a delete without a body. */
export function parseDeleteOptions(query: URLSearchParams): DeleteOptions {
  const grace = queryInteger(query, 'gracePeriodSeconds')
  if (!grace.ok) throw badRequest(grace.error)
  const orphanDependents = querySwitch(query, 'orphanDependents')
  const propagationPolicy = query.get('propagationPolicy')
  const uid = queryText(query, 'uid')
  const resourceVersion = queryText(query, 'resourceVersion')
  return validDeleteOptions({
    dryRun: query.getAll('dryRun'),
    ...(grace.value === undefined ? {} : { gracePeriodSeconds: grace.value }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === null ? {} : { propagationPolicy }),
    ...(uid === '' && resourceVersion === ''
      ? {}
      : { preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) } }),
    [IGNORE_READ_ERRORS]: querySwitch(query, IGNORE_READ_ERRORS) ?? false,
  })
}

/** A deletecollection cannot skip objects that cannot be decoded. */
export function checkDeleteCollectionOptions(options: DeleteOptions): void {
  if (!options.ignoreStoreReadError) return
  const why = 'is not allowed with DELETECOLLECTION, try again after removing the option'
  throw invalidOptions('DeleteOptions', [fieldInvalid(IGNORE_READ_ERRORS, true, why)])
}

/** The conflict if the object does not meet the preconditions. */
export function failedPrecondition(
  { uid, resourceVersion }: Preconditions,
  meta: ObjectMeta,
  kind: GroupKind,
): StatusError | undefined {
  const at = { group: kind.group, resource: kind.kind }
  const name = meta.name ?? ''
  if (uid !== undefined && uid !== meta.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${meta.uid ?? ''}). The object might have been deleted and then recreated`
    return conflict(at, name, why)
  }
  if (resourceVersion !== undefined && resourceVersion !== meta.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${meta.resourceVersion ?? ''}). The object might have been modified`
    return conflict(at, name, why)
  }
  return undefined
}

/** The same for kinds with a terminating phase, which have other messages. */
export function failedBeforeTerminating(
  { uid, resourceVersion }: Preconditions,
  meta: ObjectMeta,
  resource: GroupResource,
): StatusError | undefined {
  const failed = (what: string, requested: string, there = ''): StatusError =>
    conflict(
      resource,
      meta.name ?? '',
      `Precondition failed: ${what} in precondition: ${requested}, ${what} in object meta: ${there}`,
    )
  if (uid !== undefined && uid !== meta.uid) return failed('UID', uid, meta.uid)
  if (resourceVersion !== undefined && resourceVersion !== meta.resourceVersion) {
    return failed('ResourceVersion', resourceVersion, meta.resourceVersion)
  }
  return undefined
}

/** The option of a delete of objects that cannot be read. */
export const IGNORE_READ_ERRORS = 'ignoreStoreReadErrorWithClusterBreakingPotential'

/** As a body has them, each member of its type. */
export interface RawDeleteOptions {
  readonly dryRun?: readonly string[]
  readonly gracePeriodSeconds?: number | bigint
  readonly preconditions?: Preconditions
  readonly propagationPolicy?: string
  readonly orphanDependents?: boolean
  readonly [IGNORE_READ_ERRORS]?: boolean
}

/** The options, if they are valid. Throws a StatusError otherwise. */
export function validDeleteOptions(raw: RawDeleteOptions): DeleteOptions {
  const { propagationPolicy: policy, dryRun = [] } = raw
  const errors: FieldError[] = []
  if (policy !== undefined && raw.orphanDependents !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set'
    errors.push(fieldInvalid('propagationPolicy', policy, why))
  }
  if (policy !== undefined && !POLICIES.includes(policy)) {
    errors.push(fieldNotSupported('propagationPolicy', policy, [...POLICIES, 'nil']))
  }
  errors.push(...checkDryRun(dryRun))
  if (raw[IGNORE_READ_ERRORS] === true) {
    const others = {
      dryRun: dryRun.length > 0,
      propagationPolicy: policy !== undefined,
      orphanDependents: raw.orphanDependents !== undefined,
      gracePeriodSeconds: raw.gracePeriodSeconds !== undefined,
      preconditions: raw.preconditions !== undefined,
    }
    for (const [other, given] of Object.entries(others)) {
      if (given) errors.push(fieldInvalid(IGNORE_READ_ERRORS, true, `cannot be set together with .${other}`))
    }
  }
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors)
  return {
    dryRun: dryRun.length > 0,
    ...(raw.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: Number(raw.gracePeriodSeconds) }),
    ...(raw.preconditions === undefined ? {} : { preconditions: raw.preconditions }),
    ...(policy === undefined ? {} : { propagationPolicy: policy as PropagationPolicy }),
    ...(raw.orphanDependents === undefined ? {} : { orphanDependents: raw.orphanDependents }),
    ignoreStoreReadError: raw[IGNORE_READ_ERRORS] === true,
  }
}

const POLICIES = ['Foreground', 'Background', 'Orphan']
