// Publishes the authority of the front proxy in the ConfigMap in which extension servers look for it, once there is one of
// them. Its certificates are created then, not at each start.
import type { RemoteServices } from '../../../aggregation/remote-services.js'
import { type Controller, type ControllerEnv, createControllerQueue } from '../../../controllers/start-controllers.js'
import type { Kind } from '../../../kinds/kind.js'
import type { ApiContext } from '../../../verbs/api-context.js'
import { FRONT_PROXY_CLIENT, type FrontProxy } from '../../tls/front-proxy.js'
import { publishAuthentication } from '../system-objects/own-config-maps.js'

export interface FrontProxyTrustParts {
  readonly context: ApiContext
  readonly configMaps: Kind
  readonly services: RemoteServices
  readonly frontProxy: () => Promise<FrontProxy>
  /** Whether extension servers get the uids of users. */
  readonly namesUids: boolean
  readonly env: ControllerEnv
}

/** The headers that name the user (`aggregation/transport.ts`), and the one certificate whose headers count. */
const HEADERS = {
  allowedNames: [FRONT_PROXY_CLIENT],
  usernameHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
}

export function startFrontProxyTrust(parts: FrontProxyTrustParts): Controller {
  const { context, configMaps, services, frontProxy, namesUids, env } = parts
  const queue = createControllerQueue('FrontProxyTrustController', env, async () => {
    const { ca } = await frontProxy()
    const uidHeaders = namesUids ? HEADERS.uidHeaders : []
    const requestHeader = { ca, ...HEADERS, uidHeaders }
    await publishAuthentication(context, configMaps, { clientCa: undefined, requestHeader })
  })
  // The ConfigMap is written only if something is missing in it.
  const enqueue = (): void => {
    if (services.size > 0) queue.add('')
  }
  const stopListening = services.onChange(enqueue)
  enqueue()
  return {
    idle: () => queue.idle(),
    stop() {
      stopListening()
      queue.stop()
    },
  }
}
