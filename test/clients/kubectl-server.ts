// One server for all kubectl tests of a describe block; each test has its own namespace.
import { afterAll, beforeAll } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { createKubectl, createKubectlHome, type Kubectl } from './kubectl-process.js'

export interface KubectlServer {
  readonly url: string
  /** kubectl in a new namespace. */
  inside(namespace: string): Promise<Kubectl>
  /** kubectl in the namespace `default`. */
  anywhere(): Kubectl
}

/** Must be called where tests are declared. */
export function serverForKubectl(): KubectlServer {
  const home = createKubectlHome()
  let server: BinnacleProcess
  const within = (namespace: string): Kubectl => createKubectl(home.path, server.kubeconfig, namespace)
  beforeAll(async () => {
    server = await startBinnacleProcess()
    // Fills the discovery cache in its home directory for the following commands.
    await within('default').says('get', 'namespaces')
  })
  afterAll(async () => {
    await server.kill()
    home.remove()
  })
  return {
    get url() {
      return server.url
    },
    async inside(namespace) {
      const kubectl = within(namespace)
      await kubectl.says('create', 'namespace', namespace)
      return kubectl
    },
    anywhere: () => within('default'),
  }
}
