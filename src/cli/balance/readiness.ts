// Asks a server every second whether it is ready.
import { Agent, get, type RequestOptions } from 'node:https'
import type { KubeconfigAccess } from '../../authoring/kubeconfig-access.js'
import type { Readiness, Target } from './balancer.js'

const TIMES = { intervalMs: 1000, timeoutMs: 2000 }

/** `reason`: why it is not ready. */
export type OnChange = (readiness: Readiness, reason: string) => void

/** Calls `onChange` with the first answer, and whenever it changes. Returns what ends it. */
export function watchReadiness(
  target: Target,
  access: KubeconfigAccess,
  onChange: OnChange,
  times = TIMES,
): () => void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let last: Readiness = 'unknown'
  let unanswered = 0
  let timer: NodeJS.Timeout
  let isOver = false

  async function look(): Promise<void> {
    const { readiness, reason, isSure } = await askReadiness(agent, target, access, times.timeoutMs)
    if (isOver) return
    unanswered = isSure ? 0 : unanswered + 1
    // A server that is very busy may miss one request.
    const isKnown = isSure || unanswered > 1
    if (isKnown && readiness !== last) {
      last = readiness
      onChange(readiness, reason)
    }
    timer = setTimeout(() => void look(), times.intervalMs)
  }

  void look()
  return () => {
    isOver = true
    clearTimeout(timer)
    agent.destroy()
  }
}

interface Asked {
  readonly readiness: Readiness
  readonly reason: string
  /** False if there was no answer, which may be for once. */
  readonly isSure: boolean
}

const READY: Asked = { readiness: 'ready', reason: '', isSure: true }

function askReadiness(
  agent: Agent,
  { host, port }: Target,
  { tls, token }: KubeconfigAccess,
  timeoutMs: number,
): Promise<Asked> {
  const options: RequestOptions = {
    agent,
    host,
    port,
    path: '/readyz',
    ...tls,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  }
  return new Promise(resolve => {
    const request = get(options, response => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('error', fail)
      response.on('end', () => {
        clearTimeout(timer)
        resolve(response.statusCode === 200 ? READY : refused(response.statusCode, text))
      })
    })
    const timer = setTimeout(() => request.destroy(new Error('no answer came in time')), timeoutMs)
    request.on('error', fail)

    function fail(error: NodeJS.ErrnoException): void {
      clearTimeout(timer)
      resolve({ readiness: 'away', reason: error.message, isSure: error.code === 'ECONNREFUSED' })
    }
  })
}

/** A server that stops says so, and answers what was sent to it. */
function refused(code: number | undefined, text: string): Asked {
  const failed = text.split('\n').filter(line => line.startsWith('[-]'))
  const isStopping = failed.length === 1 && failed[0]!.startsWith('[-]shutdown ')
  const reason = failed.join(', ') || `/readyz is answered ${code}`
  return { readiness: isStopping ? 'stopping' : 'away', reason, isSure: true }
}
