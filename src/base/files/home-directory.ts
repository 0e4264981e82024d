// The home directory of the user. In a container the user may have neither a home nor an entry in the list of users.
import { homedir } from 'node:os'

/** The root directory if there is none, where nothing can be written: the user must name a directory. */
export function homeDirectory(): string {
  try {
    return homedir()
  } catch {
    return '/'
  }
}
