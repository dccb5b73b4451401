/* Keeps a second copy of every file in a directory, as it was when it was last synced: what a disk
   has after a loss of power, in the worst case. Loaded into a program with LD_PRELOAD.
   LOSE_DIRECTORY is the directory, LOSE_SURVIVORS the one of the copies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void keep(int fd) {
    const char *directory = getenv("LOSE_DIRECTORY"), *survivors = getenv("LOSE_SURVIVORS");
    char link[64], path[4096], kept[8192], partial[8200], buffer[65536];
    if (!directory || !survivors) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    size_t prefix = strlen(directory);
    if (strncmp(path, directory, prefix) != 0 || path[prefix] != '/') return;
    if (strchr(path + prefix + 1, '/')) return;
    snprintf(kept, sizeof kept, "%s/%s", survivors, path + prefix + 1);
    snprintf(partial, sizeof partial, "%s.partial", kept);
    /* Not through another descriptor of the file: closing it would drop SQLite's locks. */
    int to = open(partial, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (to < 0) return;
    off_t at = 0;
    for (ssize_t count; (count = pread(fd, buffer, sizeof buffer, at)) > 0; at += count)
        if (write(to, buffer, count) != count) abort();
    close(to);
    rename(partial, kept);
}

int fsync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int result = real(fd);
    if (result == 0) keep(fd);
    return result;
}

int fdatasync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    int result = real(fd);
    if (result == 0) keep(fd);
    return result;
}
