// What the user may do, asked of the server before a button is offered.
import { type Signal, signal } from '@preact/signals'
import { getJson } from './client.js'

export interface Access {
  readonly verb: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  /** A path that is not of a resource, in the place of the above. */
  readonly path?: string
}

export interface Decision {
  readonly allowed: boolean
  /** Why not, as a sentence for the user. */
  readonly reason: string
}

const known = new Map<string, Signal<Decision | undefined>>()

/** Undefined while the server is asked. Reading the signal's value draws again when the answer is there. */
export function canI(access: Access): Signal<Decision | undefined> {
  const key = JSON.stringify(access)
  const found = known.get(key)
  if (found !== undefined) return found
  const decision = signal<Decision | undefined>(undefined)
  known.set(key, decision)
  void review(access).then(answer => {
    decision.value = answer
  })
  return decision
}

/** Roles change: what is known is asked again. */
export function forgetAccess(): void {
  known.clear()
}

/** Undefined if the button may be pressed; else the reason why it cannot succeed. */
export const refusal = (access: Access): string | undefined => {
  const decision = canI(access).value
  return decision === undefined || decision.allowed ? undefined : decision.reason
}

async function review(access: Access): Promise<Decision> {
  const { verb, path, ...attributes } = access
  const spec =
    path === undefined ? { resourceAttributes: { verb, ...attributes } } : { nonResourceAttributes: { verb, path } }
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }
  try {
    const { status } = await getJson<{ status: { allowed: boolean; reason?: string; evaluationError?: string } }>(
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      { method: 'POST', body },
    )
    return { allowed: status.allowed, reason: status.allowed ? '' : sentence(access, status.reason ?? '') }
  } catch {
    // The review itself may be refused; then the request decides.
    return { allowed: true, reason: '' }
  }
}

function sentence({ verb, resource, subresource, group, namespace, path }: Access, reason: string): string {
  const what = path ?? `${resource ?? ''}${subresource ? `/${subresource}` : ''}${group ? `.${group}` : ''}`
  const where = namespace ? ` in namespace ${namespace}` : ''
  return `You may not ${verb} ${what}${where}${reason === '' ? '' : `: ${reason}`}.`
}

interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
}

/** The rules of the user in a namespace; undefined while the server is asked. */
export const rules = signal<
  { readonly resourceRules: readonly ResourceRule[]; readonly incomplete: boolean } | undefined
>(undefined)

export async function readRules(namespace: string): Promise<void> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: namespace === '' ? 'default' : namespace },
  }
  const { status } = await getJson<{ status: { resourceRules: readonly ResourceRule[]; incomplete: boolean } }>(
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    { method: 'POST', body },
  )
  rules.value = status
}

/** Whether some rule lets the user list the resource. True while it is not known. */
export function mayList({ group, name }: { group: string; name: string }): boolean {
  const { value } = rules
  if (value === undefined || value.incomplete) return true
  const has = (list: readonly string[] | undefined, word: string): boolean =>
    list !== undefined && (list.includes('*') || list.includes(word))
  return value.resourceRules.some(
    rule => has(rule.verbs, 'list') && has(rule.apiGroups, group) && has(rule.resources, name),
  )
}
