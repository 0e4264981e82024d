// The user of the administrator's kubeconfig, by certificate, token or session.
import type { Identity } from '../../auth/authenticator.js'

export const ADMINISTRATOR: Identity = { name: 'kubernetes-admin', uid: '', groups: ['system:masters'], extra: {} }
