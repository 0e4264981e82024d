// Groups of the Kubernetes community are protected: a definition there has an annotation with the URL of its approval,
// or that it was not.
import { type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import type { NewCondition } from '../conditions.js'

type Annotations = Readonly<Record<string, string>>

const ANNOTATION = 'api-approved.kubernetes.io'
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111'
const MUST_HAVE = `protected groups must have approval annotation ${quote(ANNOTATION)}`

interface Approval {
  readonly state: 'missing' | 'invalid' | 'bypassed' | 'approved'
  readonly reason: string
}

/** What is wrong with the annotation. What was there before is not questioned. */
export function checkApproval(group: string, annotations: Annotations, old?: Annotations): FieldError[] {
  if (!isProtected(group)) return []
  const { state, reason } = approvalOf(annotations)
  if (old && approvalOf(old).state === state) return []
  const path = `metadata.annotations[${ANNOTATION}]`
  if (state === 'missing') return [fieldRequired(path, reason)]
  return state === 'invalid' ? [fieldInvalid(path, annotations[ANNOTATION], reason)] : []
}

export function approvalCondition(group: string, annotations: Annotations): NewCondition | undefined {
  if (!isProtected(group)) return undefined
  const { state, reason: message } = approvalOf(annotations)
  const type = 'KubernetesAPIApprovalPolicyConformant'
  return { type, status: state === 'approved' ? 'True' : 'False', reason: REASONS[state], message }
}

const REASONS: Readonly<Record<Approval['state'], string>> = {
  missing: 'MissingAnnotation',
  invalid: 'InvalidAnnotation',
  bypassed: 'UnapprovedAnnotation',
  approved: 'ApprovedAnnotation',
}

const isProtected = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group)

function approvalOf(annotations: Annotations): Approval {
  const text = annotations[ANNOTATION] ?? ''
  if (text === '') return { state: 'missing', reason: `${MUST_HAVE}, ${SEE}` }
  if (text.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${quote(text)}` }
  if (isUrl(text)) return { state: 'approved', reason: `approved in ${text}` }
  const why = `${MUST_HAVE} with either a URL or a reason starting with "unapproved", ${SEE}`
  return { state: 'invalid', reason: why }
}

/** With a scheme and a host. */
const isUrl = (text: string): boolean => /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]/.test(text) && URL.canParse(text)
