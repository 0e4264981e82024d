// The ComponentStatuses: the store, and the scheduler and controller manager that may run on the same machine, at the
// ports that are their defaults. kube-apiserver asks the same ports.
import { get } from 'node:https'
import type { ComputedObjects } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { networkReason } from '../../webhook/webhook-error.js'

interface Health {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly message?: string | undefined
  readonly error?: string | undefined
}

export type CheckHealth = () => Promise<Health>

const CONTROLLER_MANAGER_PORT = 10257
const SCHEDULER_PORT = 10259
const PROBE_MS = 20_000
/** No more of a page is read, or shown as a message. */
const MAX_PAGE_BYTES = 10 * 1024

export const componentStatuses = (checkStore: () => Promise<void>): ComputedObjects =>
  statusesOf({
    'controller-manager': () => probe(CONTROLLER_MANAGER_PORT),
    'etcd-0': () => storeHealth(checkStore),
    scheduler: () => probe(SCHEDULER_PORT),
  })

export const statusesOf = (checks: Readonly<Record<string, CheckHealth>>): ComputedObjects => ({
  list: () => Promise.all(Object.entries(checks).map(([name, check]) => statusOf(name, check))),
  get: async name => (Object.hasOwn(checks, name) ? statusOf(name, checks[name]!) : undefined),
})

async function statusOf(name: string, check: CheckHealth): Promise<ApiObject> {
  const { status, message, error } = await check()
  const condition = { type: 'Healthy', status, ...(message && { message }), ...(error && { error }) }
  return { apiVersion: 'v1', kind: 'ComponentStatus', metadata: { name }, conditions: [condition] }
}

async function storeHealth(check: () => Promise<void>): Promise<Health> {
  try {
    await check()
    return { status: 'True', message: 'ok' }
  } catch (error) {
    return { status: 'False', error: (error as Error).message }
  }
}

/** Asks `/healthz`. The certificate is not checked, since the components sign theirs themselves. */
export const probe = (port: number): Promise<Health> =>
  new Promise(resolve => {
    const url = `https://127.0.0.1:${port}/healthz`
    const signal = AbortSignal.timeout(PROBE_MS)
    const fail = (error: unknown): void => {
      const reason = signal.aborted
        ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
        : networkReason(error, { host: '127.0.0.1', port })
      resolve({ status: 'False', message: `Get ${JSON.stringify(url)}: ${reason}` })
    }
    const request = get(url, { rejectUnauthorized: false, agent: false, signal }, response => {
      const { statusCode = 0 } = response
      let page = Buffer.alloc(0)
      const end = (): void => {
        const text = page.subarray(0, MAX_PAGE_BYTES).toString()
        request.destroy()
        resolve(healthOf(statusCode, text))
      }
      response.on('data', (bytes: Buffer) => {
        page = Buffer.concat([page, bytes])
        if (page.length >= MAX_PAGE_BYTES) end()
      })
      response.on('end', end)
      response.on('error', fail)
    })
    request.on('error', fail)
  })

function healthOf(statusCode: number, page: string): Health {
  if (statusCode >= 200 && statusCode < 300) return { status: 'True', message: page }
  if (statusCode >= 300 && statusCode < 400) {
    return { status: 'Unknown', message: `Probe terminated redirects, Response body: ${page}` }
  }
  return { status: 'False', message: `HTTP probe failed with statuscode: ${statusCode}` }
}
