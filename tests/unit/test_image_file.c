// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_image_file.c - images as files: changed under way, released, no image at all. What is read from
 * their bytes is in test_image.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "image_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *path, const struct elf_blob *file)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file->bytes, file->len), file->len);
	close(fd);
}

struct folder {
	char dir[64], path[96];
};

static int make_folder(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/hbprof-image-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/elf", f->dir);
	*state = f;
	return 0;
}

static int remove_folder(void **state)
{
	struct folder *f = *state;

	unlink(f->path);
	rmdir(f->dir);
	free(f);
	return 0;
}

static void test_a_changed_file_is_noticed(void **state)
{
	const struct timespec other_time[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct folder *f = *state;
	struct elf_blob file = make_elf((struct want){.gnu = true});
	struct image *im;

	write_file(f->path, &file);
	assert_int_equal(image__open(f->path, &im), 0);
	assert_string_equal(im->path, f->path);
	assert_string_equal(im->build_id, "deadbeef007f");
	assert_true(image__unchanged(im));
	assert_int_equal(utimensat(AT_FDCWD, f->path, other_time, 0), 0);
	assert_false(image__unchanged(im));
	image__close(im);

	assert_int_equal(image__open(f->path, &im), 0);
	assert_int_equal(truncate(f->path, (off_t)file.len + 1), 0);
	assert_int_equal(utimensat(AT_FDCWD, f->path, other_time, 0), 0);
	assert_false(image__unchanged(im));
	image__close(im);

	/* A new file of that name is another one: this image stays with the old one. */
	assert_int_equal(image__open(f->path, &im), 0);
	unlink(f->path);
	write_file(f->path, &file);
	assert_true(image__unchanged(im));
	image__close(im);
	elf_blob__free(&file);
}

static size_t resident_pages(void)
{
	size_t pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %zu", &pages), 1);
	fclose(f);
	return pages;
}

static u64 sum_of(const struct image *im)
{
	u64 sum = 0;

	for (size_t i = 0; i < im->len; i++)
		sum += im->base[i];
	return sum;
}

static void test_a_released_image_takes_no_memory_and_can_still_be_read(void **state)
{
	const size_t extra = 16 << 20;
	struct folder *f = *state;
	struct elf_blob file = make_elf((struct want){0});
	struct image *im;
	size_t full;
	u64 sum;

	write_file(f->path, &file);
	assert_int_equal(truncate(f->path, (off_t)(file.len + extra)), 0);
	assert_int_equal(image__open(f->path, &im), 0);
	sum = sum_of(im);
	full = resident_pages();
	image__release(im);
	assert_in_range(resident_pages(), 1, full - extra / 2 / (size_t)getpagesize());
	assert_int_equal(sum_of(im), sum);
	image__close(im);

	/* A copy in memory must keep its bytes. */
	im = open_mem(&file);
	image__release(im);
	assert_memory_equal(im->base, file.bytes, file.len);
	assert_true(image__unchanged(im));
	image__close(im);
	elf_blob__free(&file);
}

static void test_what_cannot_be_an_image_is_refused_at_once(void **state)
{
	struct folder *f = *state;
	struct image *im;
	int fd;

	assert_int_equal(image__open(f->path, &im), -ENOENT);
	assert_int_equal(image__open(f->dir, &im), -EISDIR);
	assert_int_equal(image__open("/dev/null", &im), -ENOEXEC);
	/* A FIFO without a writer would hold a plain open() for ever. */
	assert_int_equal(mkfifo(f->path, 0600), 0);
	assert_int_equal(image__open(f->path, &im), -ENOEXEC);
	unlink(f->path);
	write_file(f->path, &(struct elf_blob){.bytes = (u8 *)"", .len = 0});
	assert_int_equal(image__open(f->path, &im), -ENOEXEC);

	/* On failure the descriptor stays the caller's. */
	fd = open(f->path, O_RDONLY);
	assert_int_equal(image__open_fd(fd, "x", &im), -ENOEXEC);
	assert_int_equal(close(fd), 0);
}

static void test_a_real_executable_is_read(void **state)
{
	struct image *im;
	u64 vaddr, off;
	u32 i;

	assert_int_equal(image__open("/proc/self/exe", &im), 0);
	for (i = 0; i < im->nr_segs && !im->seg[i].exec; i++)
		;
	assert_true(i < im->nr_segs);
	assert_int_equal(image__vaddr(im, im->seg[i].off, &vaddr), 0);
	assert_int_equal(image__off(im, vaddr, &off), 0);
	assert_int_equal(off, im->seg[i].off);
	assert_non_null(image__section(im, ".text"));
	image__close(im);
	image__close(NULL);
}

#define in_folder(t) cmocka_unit_test_setup_teardown(t, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(test_a_changed_file_is_noticed),
		in_folder(test_a_released_image_takes_no_memory_and_can_still_be_read),
		in_folder(test_what_cannot_be_an_image_is_refused_at_once),
		cmocka_unit_test(test_a_real_executable_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
