// Claims of devices: those of the pod, and the ones that its containers use.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldNotFound,
  fieldRequired,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../../../meta/object/names.js'
import { has, objectsAt, stringAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkText } from '../../../common/field-checks.js'
import { asGoStruct } from '../../../common/go-struct.js'
import { formatIfSet, run } from '../../../common/rules.js'

const NAMES = ['resourceClaimName', 'resourceClaimTemplateName']

/** Each claim of a pod names an object, or a template to create one from. */
export function checkPodClaims(spec: ValueObject, path: string): FieldError[] {
  const seen = new Set<string>()
  return objectsAt(spec, 'resourceClaims').flatMap((claim, i) => {
    const at = indexPath(childPath(path, 'resourceClaims'), i)
    const given = NAMES.filter(name => has(claim, name))
    const invalid = (why: string): FieldError => fieldInvalid(at, asGoStruct('core/v1.PodResourceClaim', claim), why)
    const errors = checkClaimName(stringAt(claim, 'name'), seen, childPath(at, 'name'))
    if (given.length > 1) errors.push(invalid(`at most one of \`${NAMES.join('` or `')}\` may be specified`))
    if (given.length === 0) errors.push(invalid(`must specify one of: \`${NAMES.join('`, `')}\``))
    return errors.concat(
      run(
        NAMES.map(name => formatIfSet(name, checkDnsSubdomain)),
        claim,
        undefined,
        at,
      ),
    )
  })
}

function checkClaimName(name: string, seen: Set<string>, path: string): FieldError[] {
  if (name === '') return [fieldRequired(path)]
  if (seen.has(name)) return [fieldDuplicate(path, name)]
  seen.add(name)
  return checkText(name, checkDnsLabel, path)
}

/** The names of a pod's claims. */
export const claimNames = (spec: ValueObject): ReadonlySet<string> =>
  new Set(
    objectsAt(spec, 'resourceClaims')
      .map(claim => stringAt(claim, 'name'))
      .filter(name => name !== ''),
  )

/** A container uses a claim of its pod as a whole, or single requests of it. */
export function checkUsedClaims(resources: ValueObject, ofPod: ReadonlySet<string>, path: string): FieldError[] {
  const used = new Set<string>()
  return objectsAt(resources, 'claims').flatMap((claim, i) => {
    const at = indexPath(childPath(path, 'claims'), i)
    const name = stringAt(claim, 'name')
    if (name === '') return [fieldRequired(at)]
    const errors = checkUse(name, stringAt(claim, 'request'), used, at)
    if (!ofPod.has(name)) {
      const names = ofPod.size === 0 ? ' which is empty' : `: ${[...ofPod].toSorted().join(', ')}`
      errors.push(fieldNotFound(at, name, `must be one of the names in pod.spec.resourceClaims${names}`))
    }
    return errors
  })
}

function checkUse(name: string, request: string, used: Set<string>, path: string): FieldError[] {
  if (used.has(name)) return [fieldDuplicate(path, name)]
  const key = request === '' ? name : `${name}/${request}`
  const errors = request === '' ? [] : checkText(request, checkDnsLabel, childPath(path, 'request'))
  if (used.has(key)) errors.push(fieldDuplicate(path, key))
  else if (request === '') {
    for (const other of used) if (other.startsWith(`${name}/`)) errors.push(fieldDuplicate(path, name))
  }
  used.add(key)
  return errors
}
