// Files of this package. The bundle has all modules in one folder, as deep as this one, so that paths relative to a module
// hold in both only here.
import { fileURLToPath } from 'node:url'

/** The absolute path of a file, by its path from the root of the package. */
export const packageFile = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
