// Which releases of Kubernetes the server behaves as. They are those of kube-apiserver v1.36 unless a flag names others.
import { KUBERNETES_MAJOR, KUBERNETES_MINOR } from '../base/kubernetes-version.js'

/** Minor versions of Kubernetes: 35 is v1.35. */
export interface EffectiveVersion {
  /** The release whose API, features and defaults the server has. */
  readonly emulation: number
  /** The oldest release that can read what the server stores: it decides on storage versions and on what new expressions may use. */
  readonly minCompatibility: number
}

export const BINARY_MINOR = Number(KUBERNETES_MINOR)

export const NOT_EMULATED: EffectiveVersion = { emulation: BINARY_MINOR, minCompatibility: BINARY_MINOR - 1 }

/** `1.35` */
export const printMinor = (minor: number): string => `${KUBERNETES_MAJOR}.${minor}`
