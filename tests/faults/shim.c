/* A disk that misbehaves, for a server that is started with this library preloaded.

   What it does stands in the folder that FAULT_FOLDER names: while there is a file `full`,
   nothing more can be written to the write-ahead log; `slow` holds the milliseconds that
   every flush takes longer; `broken` makes one flush fail, and is gone then. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int path_of(const char *name, char *path)
{
    const char *folder = getenv("FAULT_FOLDER");
    return folder != NULL && snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static int is_set(const char *name)
{
    char path[PATH_MAX];
    return path_of(name, path) && access(path, F_OK) == 0;
}

static int is_log(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return strstr(path, "/pg_wal/") != NULL;
}

static int is_refused(int fd)
{
    return is_set("full") && is_log(fd);
}

static int flush_fails(void)
{
    char path[PATH_MAX];
    if (path_of("slow", path)) {
        FILE *file = fopen(path, "r");
        int milliseconds = 0;
        if (file != NULL) {
            if (fscanf(file, "%d", &milliseconds) == 1)
                usleep((useconds_t) milliseconds * 1000);
            fclose(file);
        }
    }
    return path_of("broken", path) && unlink(path) == 0;
}

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))
#define REFUSE(fd) if (is_refused(fd)) { errno = ENOSPC; return -1; }
#define FLUSH if (flush_fails()) { errno = EIO; return -1; }

ssize_t write(int fd, const void *data, size_t size) { REFUSE(fd) return REAL(write)(fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { REFUSE(fd) return REAL(pwrite)(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { REFUSE(fd) return REAL(pwrite64)(fd, data, size, at); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { REFUSE(fd) return REAL(pwritev)(fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { REFUSE(fd) return REAL(pwritev64)(fd, parts, count, at); }
int posix_fallocate(int fd, off_t at, off_t size) { return is_refused(fd) ? ENOSPC : REAL(posix_fallocate)(fd, at, size); }
int posix_fallocate64(int fd, off64_t at, off64_t size) { return is_refused(fd) ? ENOSPC : REAL(posix_fallocate64)(fd, at, size); }
int fsync(int fd) { FLUSH return REAL(fsync)(fd); }
int fdatasync(int fd) { FLUSH return REAL(fdatasync)(fd); }
